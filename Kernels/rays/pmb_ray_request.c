/* SPDX-License-Identifier: BSD-3-Clause
 * Checks a request for rays. */

#include "rays/pmb_ray_tile.h"

/* Whether all values are in [0, 1]: colors, or factors. */
static int are_colors(const float *values, int n)
{
  int are = 1;
  for (int i = 0; i < n; ++i) {
    are &= values[i] >= 0 && values[i] <= 1;
  }
  return are;
}

static pmb_status check_light(pmb_context *context, const pmb_ray_request *request)
{
  const double material[] = { request->ambient, request->diffuse, request->specular, request->specular_power };
  PMB_FAIL_IF(!pmb_all_finite(material, 4) || request->specular_power < 0, context, PMB_INVALID,
    "pmb_cast_rays: ambient %g, diffuse %g, specular %g, specular_power %g; use finite numbers, and a power of 0 or more",
    material[0], material[1], material[2], material[3]);
  for (int i = 0; i < request->light_count; ++i) {
    const pmb_ray_light *light = &request->lights[i];
    const float *d = light->direction, *dims = light->attenuation;
    const double numbers[] = { light->color[0], light->color[1], light->color[2], d[0], d[1], d[2], light->exponent,
      dims[0], dims[1], dims[2] };
    PMB_FAIL_IF(!pmb_all_finite(light->position, 4) || !pmb_all_finite(numbers, 10), context, PMB_INVALID,
      "pmb_cast_rays: light %d has a number that is not finite", i);
    PMB_FAIL_IF(!(light->cone_cosine >= 0 && light->cone_cosine <= 1) || light->exponent < 0 || dims[0] < 0 ||
        dims[1] < 0 || dims[2] < 0 || (light->cone_cosine > 0 && d[0] == 0 && d[1] == 0 && d[2] == 0),
      context, PMB_INVALID,
      "pmb_cast_rays: light %d has cone_cosine %g, exponent %g, attenuation %g %g %g; use a cosine from 0 to 1, numbers of 0 or "
      "more, and a direction if there is a cone",
      i, (double)light->cone_cosine, (double)light->exponent, (double)dims[0], (double)dims[1], (double)dims[2]);
  }
  return PMB_OK;
}

static pmb_status check_surfaces(pmb_context *context, const pmb_ray_request *request)
{
  PMB_FAIL_IF(request->isovalue_count < 0 || request->isovalue_count > PMB_RAY_ISOVALUES ||
      (request->isovalue_count > 0 && !request->isovalues),
    context, PMB_INVALID, "pmb_cast_rays: isovalue_count is %d; use 0 to %d, and set isovalues",
    request->isovalue_count, (int)PMB_RAY_ISOVALUES);
  for (int i = 0; i < request->isovalue_count; ++i) {
    const pmb_ray_isovalue *v = &request->isovalues[i];
    const double numbers[] = { v->value, v->color[0], v->color[1], v->color[2], v->color[3] };
    PMB_FAIL_IF(!pmb_all_finite(numbers, 5) || !are_colors(v->color, 4), context, PMB_INVALID,
      "pmb_cast_rays: isovalue %d is %g; it must be finite, and its color from 0 to 1", i, v->value);
  }
  return PMB_OK;
}

static pmb_status check_table(pmb_context *context, const pmb_ray_request *request)
{
  const double numbers[] = { request->table_low, request->table_high, request->table_unit };
  PMB_FAIL_IF(!request->table || request->table_size < 2 || request->table_size > PMB_RAY_TABLE, context, PMB_INVALID,
    "pmb_cast_rays: table is %s and table_size %d; use 2 to %d colors", request->table ? "set" : "NULL",
    request->table_size, (int)PMB_RAY_TABLE);
  PMB_FAIL_IF(!pmb_all_finite(numbers, 3) || !(request->table_low < request->table_high) ||
      (request->mode == PMB_RAY_COMPOSITE && !(request->table_unit > 0)),
    context, PMB_INVALID,
    "pmb_cast_rays: the table goes from %g to %g with unit %g; use finite numbers, the smaller one first, and a unit above 0",
    request->table_low, request->table_high, request->table_unit);
  PMB_FAIL_IF(!are_colors(request->table, 4 * request->table_size), context, PMB_INVALID,
    "pmb_cast_rays: table has a number outside 0 to 1; use numbers from 0 to 1");
  return PMB_OK;
}

static pmb_status check_color_by(pmb_context *context, const pmb_ray_request *request)
{
  const pmb_attribute *by = request->color_by;
  PMB_FAIL_IF(!by->samples || pmb_type_size(by->type) == 0 || by->components != 1, context, PMB_INVALID,
    "pmb_cast_rays: color_by has samples %s, type %d, %d components; use one component, and set its samples",
    by->samples ? "set" : "NULL", (int)by->type, by->components);
  return check_table(context, request);
}

static pmb_status check_gradient_table(pmb_context *context, const pmb_ray_request *request)
{
  const int fits = request->gradient_size >= 2 && request->gradient_size <= PMB_RAY_TABLE &&
    are_colors(request->gradient_table, request->gradient_size);
  PMB_FAIL_IF(!fits || !PMB_IS_FINITE(request->gradient_high) || !(request->gradient_high > 0), context, PMB_INVALID,
    "pmb_cast_rays: gradient_table has %d factors up to a gradient of %g; use 2 to %d factors from 0 to 1, and a length above 0",
    request->gradient_size, request->gradient_high, (int)PMB_RAY_TABLE);
  return PMB_OK;
}

/* Checks the members that the mode takes colors from. */
static pmb_status check_colors(pmb_context *context, const pmb_ray_request *request)
{
  if (request->mode == PMB_RAY_ISOSURFACE) {
    PMB_STEP(check_surfaces(context, request));
    return request->color_by ? check_color_by(context, request) : PMB_OK;
  }
  PMB_STEP(check_table(context, request));
  return request->mode == PMB_RAY_COMPOSITE && request->gradient_table ? check_gradient_table(context, request)
                                                                       : PMB_OK;
}

pmb_status pmb_ray_check(pmb_context *context, const pmb_ray_request *request)
{
  PMB_FAIL_IF(!context->bound, context, PMB_INVALID, "pmb_cast_rays: no volume is bound; call pmb_bind first");
  PMB_FAIL_IF((unsigned)request->mode >= (unsigned)PMB_RAY_SEGMENTS, context, PMB_INVALID,
    "pmb_cast_rays: mode is %d; use 0 to %d", (int)request->mode, PMB_RAY_SEGMENTS - 1);
  PMB_FAIL_IF(request->width < 1 || request->height < 1 || request->width > 65536 || request->height > 65536 ||
      !request->colors,
    context, PMB_INVALID, "pmb_cast_rays: %d x %d pixels, colors %s; use 1 to 65536 along each side", request->width,
    request->height, request->colors ? "set" : "NULL");
  PMB_FAIL_IF(request->on_device && (!context->backend->rays || (uintptr_t)request->colors % sizeof(pmb_ray_entry)),
    context, PMB_INVALID,
    "pmb_cast_rays: on_device is %d; it needs a context with PMB_DEVICE_GPU, and colors aligned to 16 bytes",
    request->on_device);
  PMB_FAIL_IF(request->pixel_samples < 0 || request->pixel_samples > PMB_RAY_PIXEL_SAMPLES, context, PMB_INVALID,
    "pmb_cast_rays: pixel_samples is %d; use 0 to %d", request->pixel_samples, (int)PMB_RAY_PIXEL_SAMPLES);
  PMB_FAIL_IF(!PMB_IS_FINITE(request->step) || request->step < 0, context, PMB_INVALID,
    "pmb_cast_rays: step is %g; use a length above 0, or 0", request->step);
  PMB_FAIL_IF(request->light_count < 0 || request->light_count > PMB_RAY_LIGHTS || request->plane_count < 0 ||
      request->plane_count > PMB_RAY_PLANES || (request->light_count && !request->lights) ||
      (request->plane_count && !request->planes) || !pmb_all_finite(request->planes, 4 * request->plane_count) ||
      !pmb_all_finite(request->box, 6),
    context, PMB_INVALID,
    "pmb_cast_rays: %d lights and %d planes; use at most %d and %d, set their arrays, and finite numbers",
    request->light_count, request->plane_count, (int)PMB_RAY_LIGHTS, (int)PMB_RAY_PLANES);
  PMB_STEP(check_light(context, request));
  return check_colors(context, request);
}
