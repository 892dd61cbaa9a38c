/* SPDX-License-Identifier: BSD-3-Clause
 * pmb_emit: checks of the mesh, its ranges and last offset. */
#include <math.h>

#include "core/pmb_backend.h"

static pmb_status check_attributes(pmb_context *context, const char *call, const pmb_mesh *mesh, int64_t points)
{
  PMB_FAIL_IF(mesh->attribute_count < 0 || (mesh->attribute_count > 0 && !mesh->attributes), context, PMB_INVALID,
    "%s: attribute_count is %lld and attributes is %s", call, (long long)mesh->attribute_count,
    mesh->attributes ? "set" : "NULL");
  for (int64_t i = 0; i < mesh->attribute_count; ++i) {
    const pmb_attribute *a = &mesh->attributes[i];
    PMB_FAIL_IF(pmb_type_size(a->type) == 0 || a->components < 1 || !a->samples || (!a->output && points > 0),
      context, PMB_INVALID, "%s: attribute %lld: type %d, %d components, samples %s, output %s; all must be set",
      call, (long long)i, (int)a->type, a->components, a->samples ? "set" : "NULL", a->output ? "set" : "NULL");
  }
  return PMB_OK;
}

static pmb_status check_arrays(pmb_context *context, const char *call, const pmb_mesh *mesh, pmb_sizes total)
{
  PMB_FAIL_IF(mesh->point_capacity < total.points || mesh->triangle_capacity < total.triangles, context, PMB_INVALID,
    "%s: room for %lld points and %lld triangles, but the mesh has %lld and %lld", call,
    (long long)mesh->point_capacity, (long long)mesh->triangle_capacity, (long long)total.points,
    (long long)total.triangles);
  PMB_FAIL_IF((mesh->points && !pmb_type_is_float(mesh->point_type)) ||
      (mesh->scalars && !pmb_type_is_float(mesh->scalar_type)),
    context, PMB_INVALID,
    "%s: point_type is %d and scalar_type %d; each must be PMB_FLOAT32 (%d) or PMB_FLOAT64 (%d)", call,
    (int)mesh->point_type, (int)mesh->scalar_type, (int)PMB_FLOAT32, (int)PMB_FLOAT64);
  PMB_FAIL_IF((mesh->triangles || mesh->offsets) && mesh->id_type != PMB_INT32 && mesh->id_type != PMB_INT64, context,
    PMB_INVALID, "%s: id_type is %d; it must be PMB_INT32 (%d) or PMB_INT64 (%d)", call, (int)mesh->id_type,
    (int)PMB_INT32, (int)PMB_INT64);
  return PMB_OK;
}

pmb_status pmb_check_filled(pmb_context *context, const char *call, const pmb_mesh *mesh, pmb_sizes total)
{
  PMB_STEP(pmb_check_host(context, call, mesh->on_device));
  PMB_FAIL_IF((!mesh->points && total.points > 0) || (!mesh->triangles && total.triangles > 0), context, PMB_INVALID,
    "%s: the mesh's %s are NULL; both points and triangles are needed", call, mesh->points ? "triangles" : "points");
  return check_arrays(context, call, mesh, total);
}

pmb_status pmb_check_mesh(pmb_context *context, const char *call, const pmb_mesh *mesh, pmb_sizes total)
{
  PMB_STEP(pmb_check_host(context, call, mesh->on_device && context->info.device != PMB_DEVICE_GPU));
  PMB_STEP(check_arrays(context, call, mesh, total));
  PMB_FAIL_IF(mesh->id_type == PMB_INT32 &&
      ((mesh->triangles && total.points - 1 > INT32_MAX - context->points_above) ||
        (mesh->offsets && total.triangles > INT32_MAX / 3)),
    context, PMB_TOO_LARGE, "%s: %lld points and %lld triangles do not fit 32-bit ids; use PMB_INT64", call,
    (long long)total.points, (long long)total.triangles);
  PMB_FAIL_IF((unsigned)mesh->gradient_estimator > (unsigned)PMB_SOBEL, context, PMB_INVALID,
    "%s: gradient_estimator is %d; it must be PMB_CENTRAL (%d), PMB_FORWARD (%d) or PMB_SOBEL (%d)", call,
    (int)mesh->gradient_estimator, (int)PMB_CENTRAL, (int)PMB_FORWARD, (int)PMB_SOBEL);
  return check_attributes(context, call, mesh, total.points);
}

void pmb_begin_mesh(const pmb_mesh *mesh)
{
  double *const ranges[] = { mesh->point_ranges, mesh->normal_ranges };
  for (int i = 0; i < 16; ++i) {
    if (ranges[i / 8]) {
      ranges[i / 8][i % 8] = i % 2 ? -INFINITY : INFINITY;
    }
  }
}

/* Completes the ranges of n vectors, if they are wanted. found: the backend has found all but the lengths' square roots. */
static pmb_status end_ranges(
  pmb_context *context, const void *vectors, pmb_type type, int64_t n, int found, double *ranges)
{
  if (!vectors || !ranges || n == 0) {
    return PMB_OK;
  }
  if (!found) {
    return pmb_find_ranges(context, vectors, type, 3, n, ranges);
  }
  for (int i = 6; ranges[0] <= ranges[1] && i < 8; ++i) {
    ranges[i] = sqrt(ranges[i]);
  }
  return PMB_OK;
}

pmb_status pmb_end_mesh(pmb_context *context, const pmb_mesh *mesh, pmb_sizes total, int found_ranges)
{
  PMB_STEP(end_ranges(context, mesh->points, mesh->point_type, total.points, found_ranges, mesh->point_ranges));
  PMB_STEP(end_ranges(context, mesh->normals, PMB_FLOAT32, total.points, found_ranges, mesh->normal_ranges));
  if (mesh->offsets && mesh->on_device) {
    return context->backend->fill_offsets(context, mesh, total.triangles);
  }
  if (mesh->offsets) {
    pmb_store_id(mesh->offsets, total.triangles, 3 * total.triangles, mesh->id_type == PMB_INT64);
  }
  return PMB_OK;
}

pmb_status pmb_emit(pmb_context *context, const pmb_mesh *mesh)
{
  pmb_sizes total;
  PMB_STEP(pmb_begin(context));
  PMB_FAIL_IF(!context->counted, context, PMB_INVALID, "pmb_emit: nothing is counted; call pmb_count first");
  PMB_TAKE(context, pmb_mesh, normal_ranges, mesh);
  PMB_STEP(pmb_check_mesh(context, "pmb_emit", mesh, context->total));
  pmb_begin_mesh(mesh);
  PMB_STEP(pmb_run_groups(context, mesh, &total));
  return pmb_end_mesh(context, mesh, total, context->backend->finds_ranges);
}
