/* SPDX-License-Identifier: BSD-3-Clause
 * Checks of a request for particles. Prepare checks the numbers of single particles when it first reads them. */
#include "particles/pmb_particle_job.h"

static const int64_t MOST_PARTICLES = UINT32_MAX - 1;

/* components: 3 for positions, else 1. */
static pmb_status check_array(
  pmb_particles *p, const char *name, pmb_particle_array *array, int components, int64_t count)
{
  if (!array->values && array->count == 0) {
    return PMB_OK;
  }
  PMB_FAIL_IF(array->count != count || (count > 0 && !array->values), p->context, PMB_INVALID,
    "pmb_particles_count: %s has %lld particles and values %s, positions has %lld; give each array the same number",
    name, (long long)array->count, array->values ? "set" : "NULL", (long long)count);
  const size_t size = pmb_type_size(array->type);
  PMB_FAIL_IF(size == 0, p->context, PMB_INVALID,
    "pmb_particles_count: %s has type %d; use a value of pmb_type, 1 to 10", name, (int)array->type);
  if (array->stride == 0) {
    array->stride = components;
  }
  PMB_FAIL_IF(array->stride < components || array->stride > INT64_MAX / 16 / MOST_PARTICLES ||
      (uintptr_t)array->values % size != 0,
    p->context, PMB_INVALID,
    "pmb_particles_count: %s has stride %lld and is at %p; use at least %d elements, and memory aligned to %zu bytes",
    name, (long long)array->stride, array->values, components, size);
  return PMB_OK;
}

static pmb_status check_arrays(pmb_particles *p, pmb_particle_request *r)
{
  const int64_t count = r->positions.count;
  PMB_FAIL_IF(count < 0 || count > MOST_PARTICLES || (count > 0 && !r->positions.values), p->context, PMB_INVALID,
    "pmb_particles_count: positions has %lld particles and values %s; use 0 to %lld particles", (long long)count,
    r->positions.values ? "set" : "NULL", (long long)MOST_PARTICLES);
  const struct {
    const char *name;
    pmb_particle_array *array;
  } arrays[] = { { "positions", &r->positions }, { "radii", &r->radii }, { "masses", &r->masses },
    { "densities", &r->densities }, { "weights", &r->weights } };
  for (int i = 0; i < 5; ++i) {
    PMB_STEP(check_array(p, arrays[i].name, arrays[i].array, i == 0 ? 3 : 1, count));
  }
  PMB_FAIL_IF(r->kernel != PMB_KERNEL_SPLINE && (r->masses.values || r->densities.values), p->context, PMB_INVALID,
    "pmb_particles_count: masses or densities are set, and kernel is %d; only PMB_KERNEL_SPLINE (%d) uses them",
    (int)r->kernel, (int)PMB_KERNEL_SPLINE);
  PMB_FAIL_IF(r->weights.values && r->kernel != PMB_KERNEL_GAUSSIAN && r->kernel != PMB_KERNEL_POLYNOMIAL, p->context,
    PMB_INVALID,
    "pmb_particles_count: weights are set, and kernel is %d; only PMB_KERNEL_GAUSSIAN (%d) and PMB_KERNEL_POLYNOMIAL "
    "(%d) use them",
    (int)r->kernel, (int)PMB_KERNEL_GAUSSIAN, (int)PMB_KERNEL_POLYNOMIAL);
  return PMB_OK;
}

static int is_positive(double x)
{
  return x > 0 && PMB_IS_FINITE(x);
}

pmb_status pmb_particles_check(pmb_particles *p, const pmb_particle_request *request)
{
  pmb_context *context = p->context;
  pmb_particle_request *r = &p->request;
  PMB_STEP(pmb_take(
    context, "pmb_particle_request", request, PMB_FIRST_SIZE(pmb_particle_request, anisotropic), r, sizeof(*r)));
  r->smoothing = r->smoothing == 0 ? 2 : r->smoothing;
  r->brick_limit = r->brick_limit == 0 ? (int64_t)1 << 26 : r->brick_limit;
  p->kernel = r->anisotropic ? PMB_KERNEL_SHAPED : (int)r->kernel;
  PMB_FAIL_IF((unsigned)r->kernel > (unsigned)PMB_KERNEL_SPHERES, context, PMB_INVALID,
    "pmb_particles_count: kernel is %d; use 0 to %d", (int)r->kernel, (int)PMB_KERNEL_SPHERES);
  PMB_FAIL_IF(r->anisotropic && r->kernel != PMB_KERNEL_SPLINE, context, PMB_INVALID,
    "pmb_particles_count: anisotropic is %d, and kernel is %d; only PMB_KERNEL_SPLINE (%d) has anisotropic kernels",
    r->anisotropic, (int)r->kernel, (int)PMB_KERNEL_SPLINE);
  PMB_FAIL_IF((unsigned)r->normals > (unsigned)PMB_NORMALS_BY_SOBEL, context, PMB_INVALID,
    "pmb_particles_count: normals is %d; use 0 to %d", (int)r->normals, (int)PMB_NORMALS_BY_SOBEL);
  PMB_FAIL_IF(!is_positive(r->spacing), context, PMB_INVALID,
    "pmb_particles_count: spacing is %g; use a finite length above 0", r->spacing);
  PMB_FAIL_IF(!is_positive(r->smoothing), context, PMB_INVALID,
    "pmb_particles_count: smoothing is %g; use a finite multiple of the radius above 0, or 0 for 2", r->smoothing);
  PMB_FAIL_IF(!r->radii.values && !is_positive(r->radius), context, PMB_INVALID,
    "pmb_particles_count: radius is %g; use a finite length above 0, or set radii", r->radius);
  PMB_FAIL_IF(!PMB_IS_FINITE(r->isovalue) || (r->kernel != PMB_KERNEL_SPHERES && !(r->isovalue > 1e-30)), context,
    PMB_INVALID,
    "pmb_particles_count: isovalue is %g; use a finite number, above 1e-30 except with PMB_KERNEL_SPHERES",
    r->isovalue);
  if (r->whole) {
    PMB_STEP(pmb_take(context, "pmb_particle_bounds", r->whole, PMB_FIRST_SIZE(pmb_particle_bounds, span_count),
      &p->whole, sizeof(p->whole)));
    r->whole = &p->whole;
  }
  PMB_FAIL_IF(r->whole && r->z_begin > r->z_end, context, PMB_INVALID,
    "pmb_particles_count: z_begin is %lld and z_end is %lld; use a z_end of z_begin or more", (long long)r->z_begin,
    (long long)r->z_end);
  PMB_FAIL_IF(r->brick_limit < 0, context, PMB_INVALID,
    "pmb_particles_count: brick_limit is %lld; use 0 (2^26) or more", (long long)r->brick_limit);
  if (!context->backend->particles && pmb_check_host(context, "pmb_particles_count", r->on_device) != PMB_OK) {
    return PMB_INVALID;
  }
  return check_arrays(p, r);
}
