/* SPDX-License-Identifier: BSD-3-Clause
 * pmb_histogram: the size of the surface by isovalue, from the summary that bind keeps.
 *
 * The isovalues in (low, high] cross a brick with samples from low to high: one brick more from the first of these on, one less
 * after the last. The curve is the running sum of these differences, so each brick is read once. Each worker has its own
 * differences. Sums of whole numbers do not depend on their order. */
#include <math.h>
#include <string.h>

#include "core/pmb_backend.h"

enum { CHUNK = 4096 }; /* bricks per unit of work */

/* A value to compare samples with. Thresholds: as in pmb_isovalue, for 64-bit integers. */
typedef struct pmb_mark {
  double value;
  int64_t threshold_i64;
  uint64_t threshold_u64;
} pmb_mark;

typedef struct pmb_curve {
  const void *low_samples, *high_samples; /* of each brick, in the samples' type */
  pmb_type type;
  int64_t bricks, bins;
  double low, high, per_unit;
  pmb_fill fill;
  pmb_mark *centers, *borders; /* of the bins; without the range's ends */
  int64_t center_count, border_count;
  int64_t *differences; /* of each worker: of crossed, then of touched */
} pmb_curve;

#define PMB_EACH_TYPE "explore/pmb_histogram_template.h"
#include "shared/pmb_each_type.h"

#define PMB_ADD(NAME, type, name, real) [PMB_##NAME] = add_##name,
static void (*const by_type[])(
  const pmb_curve *, int64_t, int64_t, int64_t *, int64_t *) = { PMB_SAMPLE_TYPES(PMB_ADD) };

static void add_body(void *data, int worker, size_t i)
{
  const pmb_curve *c = data;
  const int64_t begin = (int64_t)i * CHUNK, end = begin + CHUNK < c->bricks ? begin + CHUNK : c->bricks;
  int64_t *crossed = c->differences + 2 * (c->bins + 1) * worker;
  by_type[c->type](c, begin, end, crossed, crossed + c->bins + 1);
}

/* The value at a share of the way from low to high; monotonic in the share. */
static double between(double low, double high, double share)
{
  const double width = high - low;
  return PMB_IS_FINITE(width) ? low + width * share : 2 * (low / 2 + (high / 2 - low / 2) * share);
}

double pmb_histogram_isovalue(const pmb_histogram_request *request, int64_t bin)
{
  return between(request->low, request->high, ((double)bin + 0.5) / (double)request->bins);
}

/* Appends a mark, unless it is above all 64-bit integers of the type, as are those after it. Returns the number of marks. */
static int64_t add_mark(pmb_mark *marks, int64_t count, double value, pmb_type type)
{
  const pmb_isovalue isovalue = pmb_isovalue_make(value, type, 0);
  if (!isovalue.none) {
    marks[count++] = (pmb_mark){ value, isovalue.threshold_i64, isovalue.threshold_u64 };
  }
  return count;
}

static void make_marks(pmb_curve *c, const pmb_histogram_request *request)
{
  for (int64_t i = 0; i < c->bins; ++i) {
    c->center_count = add_mark(c->centers, c->center_count, pmb_histogram_isovalue(request, i), c->type);
    if (i > 0) {
      const double border = between(c->low, c->high, (double)i / (double)c->bins);
      c->border_count = add_mark(c->borders, c->border_count, border, c->type);
    }
  }
}

/* Running sums of the workers' differences. */
static void sum_up(const pmb_curve *c, int workers, int64_t offset, int64_t *counts)
{
  int64_t sum = 0;
  for (int64_t i = 0; i < c->bins && counts; ++i) {
    for (int w = 0; w < workers; ++w) {
      sum += c->differences[2 * (c->bins + 1) * w + offset + i];
    }
    counts[i] = sum;
  }
}

static pmb_status check(pmb_context *context, const pmb_histogram_request *request)
{
  PMB_FAIL_IF(!context->bound, context, PMB_INVALID, "pmb_histogram: no volume is bound; call pmb_bind first");
  PMB_FAIL_IF(request->bins < 1 || request->bins > PMB_HISTOGRAM_MOST, context, PMB_INVALID,
    "pmb_histogram: %lld bins; use 1 to %d", (long long)request->bins, (int)PMB_HISTOGRAM_MOST);
  PMB_FAIL_IF(!PMB_IS_FINITE(request->low) || !PMB_IS_FINITE(request->high) || !(request->low < request->high),
    context, PMB_INVALID, "pmb_histogram: from %g to %g; use finite numbers, the smaller one first", request->low,
    request->high);
  return PMB_OK;
}

/* Counts all bricks. `work` and `copy` are empty buffers, which the caller frees. */
static pmb_status count_bricks(
  pmb_context *context, const pmb_histogram_request *request, pmb_fill fill, pmb_buffer *work, pmb_buffer *copy)
{
  const int64_t n = request->bins;
  const int workers = context->crew.workers;
  const size_t marks = 2 * (size_t)n * sizeof(pmb_mark), sums = 2 * (size_t)(n + 1) * sizeof(int64_t);
  pmb_curve c = { .type = context->volume.type,
    .bricks = context->info.bricks,
    .bins = n,
    .low = request->low,
    .high = request->high,
    .fill = fill };
  PMB_STEP(pmb_reserve(context, work, 1, marks + sums * (size_t)workers, "the histogram"));
  PMB_STEP(context->backend->summary(context, copy, &c.low_samples, &c.high_samples));
  c.per_unit = (double)n / 2 / (request->high / 2 - request->low / 2);
  c.centers = work->data;
  c.borders = c.centers + n;
  c.differences = (int64_t *)(c.borders + n);
  memset(c.differences, 0, sums * (size_t)workers);
  make_marks(&c, request);
  PMB_STEP(pmb_loop(context, (c.bricks + CHUNK - 1) / CHUNK, add_body, &c));
  sum_up(&c, workers, 0, request->crossed);
  sum_up(&c, workers, n + 1, request->touched);
  return PMB_OK;
}

pmb_status pmb_histogram(pmb_context *context, const pmb_histogram_request *request)
{
  PMB_STEP(pmb_begin(context));
  PMB_TAKE(context, pmb_histogram_request, touched, request);
  return pmb_histogram_without(context, request, (pmb_fill){ NAN, 0 });
}

pmb_status pmb_histogram_without(pmb_context *context, const pmb_histogram_request *request, pmb_fill fill)
{
  PMB_STEP(check(context, request));
  const int64_t *dims = context->volume.dims;
  pmb_buffer work = { NULL, 0 }, copy = { NULL, 0 };
  const pmb_status status = count_bricks(context, request, fill, &work, &copy);
  pmb_free_buffers(context, (pmb_buffer *[]){ &copy, &work, NULL });
  const int flat = dims[0] < 2 || dims[1] < 2 || dims[2] < 2; /* no cells */
  if (request->crossed && (status != PMB_OK || flat)) {
    memset(request->crossed, 0, (size_t)request->bins * sizeof(int64_t));
  }
  if (request->touched && status != PMB_OK) {
    memset(request->touched, 0, (size_t)request->bins * sizeof(int64_t));
  }
  return status;
}
