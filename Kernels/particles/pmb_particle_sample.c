/* SPDX-License-Identifier: BSD-3-Clause
 * Pass sample: the potential at the samples of an image, 16 of a row at a time. */
#include "particles/pmb_particle_near.h"

PMB_INLINE void add_to_row(near_points *row, const int kernel)
{
  add_to_points(row, kernel, 0);
}

PMB_BY_KERNEL(add_to_row)

/* Sets the coordinates of n samples along x from `first` on, and the box to search. Returns 0 if no kernel reaches them. */
static int place_row(const pmb_particles *p, const int64_t first[3], int n, near_points *b, near_search *search)
{
  const int size[3] = { PMB_BRICK_X, PMB_BRICK_Y, PMB_BRICK_Z };
  const pmb_particle_image *image = p->image;
  for (int a = 0; a < 3; ++a) {
    double cell[PMB_LANES];
    const double most = (double)p->bricks[a] * size[a] - 1;
    for (int l = 0; l < PMB_LANES; ++l) {
      const int64_t i = first[a] + (a == 0 && l < n ? l : a == 0 ? n - 1 : 0);
      const double at = (image->origin[a] + (double)(image->first[a] + i) * image->spacing[a]) / p->request.spacing;
      cell[l] = pmb_span_cell(p->spans[a].data, p->span_count[a], p->before, floor(at));
      b->part[a][l] = (float)(at - floor(at));
    }
    if (!(cell[PMB_LANES - 1] >= 0 && cell[0] <= most)) {
      return 0;
    }
    search->first[a] = (int32_t)fmax(cell[0], 0);
    search->last[a] = (int32_t)fmin(cell[PMB_LANES - 1] + 1, most);
    for (int l = 0; l < PMB_LANES; ++l) {
      b->whole[a][l] = (float)(cell[l] - search->first[a]);
    }
  }
  return 1;
}

void PMB_PATH_NAME(pmb_particle_sample)(void *data, int worker, size_t chunk)
{
  pmb_particles *p = data;
  const pmb_particle_image *image = p->image;
  const double scale = p->request.kernel == PMB_KERNEL_SPHERES ? p->request.spacing : 1;
  near_points b = { .scratch = pmb_particle_scratch_of(p, worker), .places = p->surface.tables->places };
  near_search search = { p, p->amounts.data, { 0 }, { 0 }, &b.scratch->near, by_kernel[p->kernel], &b, NULL,
    shapes_of(p), 0 };
  float *out = image->values + (int64_t)chunk * image->dims[0];
  int64_t first[3] = { 0, (int64_t)chunk % image->dims[1], (int64_t)chunk / image->dims[1] };
  /* Keeps whole numbers of cells below 2^24, see pmb_particle_offset. */
  const int lanes = image->spacing[0] / p->request.spacing < 0x1p19 ? PMB_LANES : 1;
  for (int n = 0; first[0] < image->dims[0]; first[0] += n) {
    n = (int)pmb_smaller(lanes, image->dims[0] - first[0]);
    for (int l = 0; l < PMB_LANES; ++l) {
      b.sum[l] = p->background;
    }
    if (p->count > 0 && p->reach > 0 && place_row(p, first, n, &b, &search)) {
      search_near(&search, 0);
    }
    for (int l = 0; l < n; ++l) {
      out[first[0] + l] = (float)((double)b.sum[l] * scale);
    }
  }
}
