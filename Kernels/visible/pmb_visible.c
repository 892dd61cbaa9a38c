/* SPDX-License-Identifier: BSD-3-Clause
 * pmb_find_visible: checks the request and runs the CPU's passes. Pass occlude is in pmb_visible_occlude.c. */
#include <math.h>
#include <string.h>

#include "cpu/pmb_cpu.h"
#include "visible/pmb_visible_job.h"

/* ---- checks ---- */

static pmb_status check(pmb_context *context, const pmb_visible_request *r)
{
  PMB_FAIL_IF(r->triangle_count < 0 || r->triangle_count > UINT32_MAX / 3, context, PMB_INVALID,
    "pmb_find_visible: triangle_count is %lld; it must be 0 to %u", (long long)r->triangle_count, UINT32_MAX / 3);
  PMB_FAIL_IF(r->width < 1 || r->width > PMB_VISIBLE_PIXELS || r->height < 1 || r->height > PMB_VISIBLE_PIXELS,
    context, PMB_INVALID, "pmb_find_visible: the picture has %d x %d pixels; a side must have 1 to %d", r->width,
    r->height, PMB_VISIBLE_PIXELS);
  PMB_FAIL_IF(r->samples < 1 || r->samples > PMB_VISIBLE_SAMPLES, context, PMB_INVALID,
    "pmb_find_visible: a pixel has %d samples; it must have 1 to %d", r->samples, PMB_VISIBLE_SAMPLES);
  for (int i = 0; i < 2 * r->samples; ++i) {
    PMB_FAIL_IF(!(r->places[i] >= 0 && r->places[i] <= 1), context, PMB_INVALID,
      "pmb_find_visible: places[%d] is %g; it must be 0 to 1", i, r->places[i]);
  }
  return pmb_all_finite(r->to_clip, 16) && pmb_all_finite(r->bounds, 6)
    ? PMB_OK
    : pmb_fail(context, PMB_INVALID, "pmb_find_visible: to_clip or bounds hold a value that is not finite");
}

static void make_view(const pmb_visible_request *r, pmb_visible_view *view)
{
  const int size[2] = { r->width, r->height };
  memset(view, 0, sizeof(*view));
  for (int row = 0; row < 4; ++row) {
    const double *m = r->to_clip + 4 * row;
    double sum = fabs(m[3]);
    for (int a = 0; a < 3; ++a) {
      sum += fabs(m[a]) * fmax(fabs(r->bounds[2 * a]), fabs(r->bounds[2 * a + 1]));
    }
    view->error[row] = (float)(sum * 8 / (1 << 24)); /* rounding of four products and sums, here and in OpenGL */
    for (int a = 0; a < 4; ++a) {
      view->to_clip[4 * row + a] = (float)m[a];
    }
  }
  for (int a = 0; a < 2; ++a) {
    view->scale[a] = (float)size[a] / 2;
    view->half_pixels = fmaxf(view->half_pixels, view->scale[a]);
    view->least[a] = 1;
    for (int s = 0; s < r->samples; ++s) {
      view->least[a] = fminf(view->least[a], r->places[2 * s + a]);
      view->greatest[a] = fmaxf(view->greatest[a], r->places[2 * s + a]);
    }
  }
  view->backwards = r->to_clip[10] < 0; /* greater z is nearer: begin with the triangles that hide others */
  view->width = r->width;
  view->height = r->height;
  view->samples = r->samples;
  memcpy(view->places, r->places, 2 * sizeof(float) * (size_t)r->samples);
  view->points = r->points;
  view->triangles = r->triangles;
  view->count = r->triangle_count;
}

/* ---- the CPU ---- */

static int64_t words_of(int64_t triangles)
{
  return (triangles + PMB_VISIBLE_WORD - 1) / PMB_VISIBLE_WORD;
}

/* Whether a triangle is visible, by the depths that pass occlude found. */
static uint32_t is_visible(const pmb_visible_work *w, int64_t triangle)
{
  const pmb_visible_view *view = &w->job->view;
  const uint32_t *ids = view->triangles + 3 * triangle;
  pmb_visible_corner c[3];
  for (int k = 0; k < 3; ++k) {
    c[k] = pmb_visible_project(view, view->points + 3 * (int64_t)ids[k]);
  }
  const pmb_visible_box box = pmb_visible_box_of(view, c[0], c[1], c[2]);
  const float corners[3][2] = { { c[0].x, c[0].y }, { c[1].x, c[1].y }, { c[2].x, c[2].y } };
  return (uint32_t)pmb_visible_look(view, &box, corners, 0, w->depths);
}

static void select_visible(void *arg, int worker, size_t chunk)
{
  const pmb_visible_work *w = arg;
  const int64_t first = (int64_t)chunk * PMB_VISIBLE_WORDS, count = w->job->view.count;
  int64_t visible = 0;
  (void)worker;
  for (int64_t word = first; word < first + PMB_VISIBLE_WORDS && word < words_of(count); ++word) {
    uint32_t seen = 0;
    for (uint32_t bits = w->words[word]; bits; bits &= bits - 1) {
      const int bit = pmb_lowest_bit(bits);
      seen |= is_visible(w, word * PMB_VISIBLE_WORD + bit) << bit;
    }
    w->words[word] = seen;
    visible += pmb_popcount(seen);
  }
  w->before[chunk] = visible;
}

static void write_visible(void *arg, int worker, size_t chunk)
{
  const pmb_visible_work *w = arg;
  const int64_t first = (int64_t)chunk * PMB_VISIBLE_WORDS, count = w->job->view.count;
  uint32_t *to = w->job->visible + 3 * w->before[chunk];
  (void)worker;
  for (int64_t word = first; word < first + PMB_VISIBLE_WORDS && word < words_of(count); ++word) {
    for (uint32_t bits = w->words[word]; bits; bits &= bits - 1, to += 3) {
      memcpy(to, w->job->view.triangles + 3 * (word * PMB_VISIBLE_WORD + pmb_lowest_bit(bits)), 3 * sizeof(*to));
    }
  }
}

/* Depths, flags, and sums of chunks. */
static const pmb_part_kind part_kind = { 3 * sizeof(pmb_buffer), 3, 0 };

static pmb_status find_on_cpu(pmb_context *context, const pmb_visible_job *job, int64_t *found)
{
  const int64_t samples = (int64_t)job->view.width * job->view.height * job->view.samples;
  const int64_t words = words_of(job->view.count);
  const int64_t chunks = pmb_chunks(words, PMB_VISIBLE_WORDS);
  pmb_buffer *buffers = pmb_part_of(context, &part_kind, "pmb_find_visible");
  if (!buffers) {
    return PMB_OUT_OF_MEMORY;
  }
  PMB_STEP(pmb_reserve(context, &buffers[0], samples, sizeof(uint32_t), "the picture's depths"));
  PMB_STEP(pmb_reserve(context, &buffers[1], words, sizeof(uint32_t), "flags of triangles"));
  PMB_STEP(pmb_reserve(context, &buffers[2], chunks, sizeof(int64_t), "flags of triangles"));
  pmb_visible_work w = { job, buffers[0].data, buffers[1].data, buffers[2].data, (size_t)chunks };
  memset(w.depths, 0xff, (size_t)samples * sizeof(*w.depths));
  PMB_STEP(pmb_pass(context, 0, 0.5, chunks, PMB_LOOP(context, pmb_visible_occlude), &w));
  PMB_STEP(pmb_pass(context, 0.5, 0.9, chunks, select_visible, &w));
  *found = pmb_sum_before(w.before, chunks);
  return *found <= job->capacity ? pmb_pass(context, 0.9, 1, chunks, write_visible, &w) : PMB_OK;
}

/* ---- the call ---- */

static pmb_status find(pmb_context *context, const pmb_visible_request *request, int64_t *count)
{
  PMB_FAIL_IF((request->triangle_count > 0 && (!request->points || !request->triangles)) ||
      (request->visible_capacity > 0 && !request->visible) || request->visible_capacity < 0,
    context, PMB_INVALID,
    "pmb_find_visible: points or triangles are NULL, or visible is NULL though visible_capacity is %lld",
    (long long)request->visible_capacity);
  pmb_visible_job job = { .visible = request->visible, .capacity = request->visible_capacity };
  make_view(request, &job.view);
  *count = 0;
  if (job.view.count == 0) {
    return PMB_OK;
  }
  if (!request->on_device) {
    return find_on_cpu(context, &job, count);
  }
  return context->backend->visible ? context->backend->visible->find(context, &job, count)
                                   : pmb_check_host(context, "pmb_find_visible", 1);
}

pmb_status pmb_find_visible(pmb_context *context, const pmb_visible_request *request, int64_t *count)
{
  PMB_FAIL_IF(
    !context || !count, context, PMB_INVALID, "pmb_find_visible: %s is NULL", context ? "count" : "context");
  PMB_STEP(pmb_begin(context));
  PMB_TAKE(context, pmb_visible_request, on_device, request);
  PMB_STEP(check(context, request));
  return find(context, request, count);
}
