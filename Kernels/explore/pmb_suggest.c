/* SPDX-License-Identifier: BSD-3-Clause
 * pmb_suggest: isovalues to start with, from the histogram of bricks that reach into each bin.
 *
 * Air, noise and each material make a peak of that curve. A surface in the valley between two peaks is a boundary between
 * materials, so the bottoms of valleys are suggested, the deepest first. Without a valley, a peak may be noise (nearly all bricks
 * reach into it) or background (it is at an end of the range). Then the suggestion is the bend from its steep slope to its long
 * tail: where the curve is farthest below the line from the peak to the end of the tail. If the tail begins level, as in the gap
 * between air and a body, it is the middle of that gap. Otherwise it is the peak itself, which has the largest surface. Fewer
 * than three suggestions are filled up with surfaces above the best. */
#include <math.h>

#include "core/pmb_backend.h"

/* WANTED: least suggestions, if there is a choice. APART: least bins between them. */
enum { BINS = PMB_SUGGEST_BINS, WANTED = 3, APART = BINS / 32, MOST_VALLEYS = BINS / 2, MOST_ZOOMS = 200 };

/* A valley is lower than both its peaks by the share VALLEY, and by RIPPLE of the highest peak. Its bottom is the lowest BOTTOM of
 * its depth. The top of a peak is above the share TOP of its height. */
static const double VALLEY = 0.1, RIPPLE = 0.02, BOTTOM = 0.1, TOP = 0.95;
/* A peak of noise has at least the share FILLED of all bricks. A tail ends at TAIL of the peak. A bend is at least BEND deep, and
 * begins at the share NEARLY of its depth. */
static const double FILLED = 0.9, TAIL = 0.02, BEND = 0.2, NEARLY = 0.95;
/* Beside a bend the curve is level while it keeps this share of its height: some bricks at a body's border lack its highest
 * samples. */
static const double LEVEL = 0.7;
/* The material above the best suggestion ends where its curve falls below DENSEST of its peak. Surfaces are alike if their numbers
 * of bricks differ by less than the share ALIKE. */
static const double DENSEST = 0.1, ALIKE = 0.1;
/* Bins up to EMPTY of the highest are empty. If the range without empty ends is at most SMALL of the whole, it replaces the
 * whole: one extreme sample must not put all others into one bin. */
static const double EMPTY = 0.005, SMALL = 0.25;
/* The least or the greatest value is a fill value, and is left out with the bricks that hold it, under these conditions:
 * - The gap beside it is at least GAP times the range of the rest; CT_GAP times in CT, which has padding and air.
 * - The rest is more than the noise of one material, as otherwise the value may be the background; or the gap is ABSURD.
 * - If nearly all bricks hold it, all of these also hold other values; they are not left out then. */
static const double GAP = 2, ABSURD = 1e9, CT_GAP = 0.125, CT_PADDING = -2000, CT_AIR = -500, NEARLY_ALL = 0.1;

typedef struct valley {
  int bin;
  double depth;
} valley;

static int64_t greatest(const int64_t *counts)
{
  int64_t most = 0;
  for (int i = 0; i < BINS; ++i) {
    most = counts[i] > most ? counts[i] : most;
  }
  return most;
}

/* The middle of the adjacent bins around `bin` that are not above (sign 1) or not below (-1) a limit. */
static int middle(const int64_t *counts, int bin, double limit, int sign)
{
  int first = bin, last = bin;
  while (first > 0 && sign * ((double)counts[first - 1] - limit) <= 0) {
    --first;
  }
  while (last < BINS - 1 && sign * ((double)counts[last + 1] - limit) <= 0) {
    ++last;
  }
  return (first + last) / 2;
}

/* Walks from peak to valley to peak, each of which has to be deep enough. Returns the number of valleys; *peak: the highest bin. */
static int find_valleys(const int64_t *counts, valley *valleys, int *peak)
{
  const double ripple = RIPPLE * (double)greatest(counts);
  int n = 0, high = 0, low = 0, rising = 1;
  double before = 0; /* the peak before the valley */
  *peak = 0;
  for (int i = 1; i < BINS; ++i) {
    const double here = (double)counts[i];
    *peak = counts[i] > counts[*peak] ? i : *peak;
    if (rising) {
      high = counts[i] > counts[high] ? i : high;
      if (here < (1 - VALLEY) * (double)counts[high] - ripple) {
        before = (double)counts[high];
        low = i;
        rising = 0;
      }
    } else {
      low = counts[i] < counts[low] ? i : low;
      if ((double)counts[low] < (1 - VALLEY) * here - ripple) {
        valleys[n++] = (valley){ low, before };
        high = i;
        rising = 1;
      }
    }
    if (n > 0 && rising) { /* below the lower peak; the second may still rise */
      valley *last = &valleys[n - 1];
      const double after = (double)counts[high];
      last->depth = (before < after ? before : after) - (double)counts[last->bin];
    }
  }
  return n;
}

/* Finds the bend of the curve on one side of its peak. Returns its depth below the line, as a share of the peak. *bin: where the
 * bend begins, which for a long one is near the peak, like the surface; *deepest_bin: where it is deepest. */
static double find_bend(const int64_t *counts, int peak, int step, int *bin, int *deepest_bin)
{
  const double top = (double)counts[peak];
  double depths[BINS], deepest = 0;
  int end = step > 0 ? BINS - 1 : 0, i;
  while (end != peak && (double)counts[end] < TAIL * top) {
    end -= step;
  }
  for (i = peak; i != end; i += step) {
    const double line = top + ((double)counts[end] - top) * (double)(i - peak) / (double)(end - peak);
    depths[i] = (line - (double)counts[i]) / top;
    if (depths[i] > deepest) {
      deepest = depths[i];
      *deepest_bin = i;
    }
  }
  for (i = peak; i != end && depths[i] < NEARLY * deepest; i += step) {
  }
  *bin = i;
  return deepest;
}

/* Beyond its deepest bin the curve may be level, as between a background and a body, or between the values of a mask. If the level
 * part is longer than the bend, and the curve then drops, returns the middle from the peak to the drop; else the bend. A curve
 * that falls on slowly has many labels, all of which are to stay. */
static int leave_bend(const int64_t *counts, int peak, int bend, int deepest, int step)
{
  int last = deepest;
  while (last + step >= 0 && last + step < BINS && (double)counts[last + step] >= LEVEL * (double)counts[deepest]) {
    last += step;
  }
  const int length = (last - deepest) * step, beyond = last + step * (1 + length / 4), halfway = (peak + last) / 2;
  const int drops = beyond < 0 || beyond >= BINS || (double)counts[beyond] < LEVEL / 2 * (double)counts[deepest];
  return drops && length > (deepest - peak) * step && (halfway - bend) * step > 0 ? halfway : bend;
}

/* The suggestion for a curve without a valley. */
static int leave_peak(const int64_t *counts, int peak, int64_t bricks)
{
  int above = peak, below = peak, above_deepest = peak, below_deepest = peak;
  const double above_depth = find_bend(counts, peak, 1, &above, &above_deepest);
  const double below_depth = find_bend(counts, peak, -1, &below, &below_deepest);
  const int filled = (double)counts[peak] >= FILLED * (double)bricks, at_end = peak < 2 || peak >= BINS - 2;
  if ((filled || at_end) && (above_depth >= BEND || below_depth >= BEND)) {
    return above_depth >= below_depth ? leave_bend(counts, peak, above, above_deepest, 1)
                                      : leave_bend(counts, peak, below, below_deepest, -1);
  }
  return middle(counts, peak, TOP * (double)counts[peak], -1);
}

/* Chooses the bins, the best first. Returns how many. */
static int choose_bins(const int64_t *counts, int64_t bricks, int *bins)
{
  valley valleys[MOST_VALLEYS];
  int peak;
  const int n = find_valleys(counts, valleys, &peak);
  for (int i = 1; i < n; ++i) { /* few: by insertion, the deepest first */
    const valley v = valleys[i];
    int j = i;
    for (; j > 0 && valleys[j - 1].depth < v.depth; --j) {
      valleys[j] = valleys[j - 1];
    }
    valleys[j] = v;
  }
  for (int i = 0; i < n; ++i) {
    const double bottom = (double)counts[valleys[i].bin] + BOTTOM * valleys[i].depth;
    bins[i] = middle(counts, valleys[i].bin, bottom, 1);
  }
  if (n == 0) {
    bins[0] = leave_peak(counts, peak, bricks);
  }
  return n > 0 ? n : 1;
}

/* Adds a bin if its surface differs from those of the n bins. Returns the new number of bins. */
static int add_bin(const int64_t *crossed, int bin, int *bins, int n)
{
  int is_new = crossed[bin] > 0;
  for (int i = 0; i < n; ++i) {
    const double difference = (double)(crossed[bin] - crossed[bins[i]]), limit = ALIKE * (double)crossed[bins[i]];
    is_new =
      is_new && (bin - bins[i] >= APART || bins[i] - bin >= APART) && (difference > limit || difference < -limit);
  }
  bins[n] = bin;
  return n + is_new;
}

/* If there are fewer than WANTED bins, adds the densest material (bone in CT) and the largest surface, both above the best. */
static int add_bins(const int64_t *counts, const int64_t *crossed, int *bins, int n)
{
  const int first = bins[0] + APART;
  int peak = first, last = BINS - 1;
  if (n >= WANTED || first >= BINS) {
    return n;
  }
  for (int i = first; i < BINS; ++i) {
    peak = counts[i] > counts[peak] ? i : peak;
  }
  while (last > peak && (double)counts[last] < DENSEST * (double)counts[peak]) {
    --last;
  }
  n = add_bin(crossed, last, bins, n);
  return n < WANTED ? add_bin(crossed, middle(counts, peak, TOP * (double)counts[peak], -1), bins, n) : n;
}

/* Cuts empty ends off the range if they are most of it. Returns 1 if it did, 0 if the range is good, -1 if only one bin is not
 * empty. */
static int zoom(pmb_histogram_request *request, double small, double share)
{
  const int64_t *counts = request->touched;
  const double empty = share * (double)greatest(counts);
  pmb_histogram_request ends = *request; /* its middles surround the bins' borders */
  int first = 0, last = BINS - 1;
  while (first < last && (double)counts[first] <= empty) {
    ++first;
  }
  while (first < last && (double)counts[last] <= empty) {
    --last;
  }
  if (last - first + 1 > small * BINS) {
    return 0;
  }
  ends.bins = 2 * BINS; /* half as wide: takes the middles just outside */
  const double low = first > 0 ? pmb_histogram_isovalue(&ends, 2 * first - 1) : request->low;
  const double high = last < BINS - 1 ? pmb_histogram_isovalue(&ends, 2 * last + 2) : request->high;
  if (!(low < high) || (low <= request->low && high >= request->high)) {
    return -1;
  }
  request->low = low;
  request->high = high;
  return first == last ? -1 : 1;
}

/* Makes the histogram of the range that has most bricks. */
static pmb_status find_range(
  pmb_context *context, pmb_histogram_request *request, pmb_fill fill, double small, double empty)
{
  const pmb_histogram_request whole = *request;
  int state = 1;
  for (int i = 0; i < MOST_ZOOMS && state != 0; ++i) {
    PMB_STEP(pmb_histogram_without(context, request, fill));
    const double low = request->low, high = request->high;
    state = zoom(request, small, empty);
    if (low == request->low && high == request->high) {
      break;
    }
  }
  if (state == 0) {
    return PMB_OK;
  }
  *request = whole;
  return pmb_histogram_without(context, request, fill);
}

/* Whether a curve shows more than one material with noise. */
static int has_structure(const int64_t *counts, int64_t bricks)
{
  valley valleys[MOST_VALLEYS];
  int peak, unused;
  if (find_valleys(counts, valleys, &peak) > 0 || (double)counts[peak] < FILLED * (double)bricks) {
    return 1;
  }
  peak = middle(counts, peak, TOP * (double)counts[peak], -1);
  return find_bend(counts, peak, 1, &unused, &unused) >= BEND ||
    find_bend(counts, peak, -1, &unused, &unused) >= BEND;
}

/* Looks for a fill value at the range's lower (-1) or upper (1) end. If it finds one, sets *fill, the request's range to that of
 * the rest, and *bricks to the number of bricks with other values. */
static pmb_status find_fill(
  pmb_context *context, pmb_histogram_request *request, int end, pmb_fill *fill, int64_t *bricks)
{
  const double value = end < 0 ? request->low : request->high;
  const int at = end < 0 ? 0 : BINS - 1;
  const pmb_fill none = { NAN, 0 }, ends = { value, 1 };
  pmb_fill found = { value, 0 };
  pmb_histogram_request rest = *request;
  const int64_t *counts = request->touched;
  PMB_STEP(find_range(context, &rest, ends, 1 - 2. / BINS, 0)); /* narrows the range step by step */
  const double range = rest.high - rest.low, gap = end < 0 ? rest.low - value : value - rest.high;
  const int ct = end < 0 && value <= CT_PADDING && rest.low > value && rest.low <= CT_AIR;
  if (!(gap >= (ct ? CT_GAP : GAP) * range)) {
    return PMB_OK;
  }
  PMB_STEP(pmb_histogram_without(context, request, none));
  const int64_t holding = counts[at], mixed = counts[at - end]; /* this bin is in the gap */
  PMB_STEP(pmb_histogram_without(context, &rest, found));
  found.ends = (double)greatest(counts) < NEARLY_ALL * (double)mixed;
  const int more = found.ends ? holding == mixed : has_structure(counts, context->info.bricks - holding);
  if (more || gap >= ABSURD * range) {
    /* If nearly all bricks hold it, they stay, with the range of the rest. */
    *fill = found.ends ? none : found;
    *bricks = context->info.bricks - holding + (found.ends ? mixed : 0);
    request->low = rest.low;
    request->high = rest.high;
  }
  return PMB_OK;
}

pmb_status pmb_suggest(pmb_context *context, int64_t most, double *isovalues, int64_t *count)
{
  int64_t touched[BINS], crossed[BINS];
  int bins[MOST_VALLEYS];
  PMB_STEP(pmb_begin(context));
  PMB_FAIL_IF(!count || most < 0 || (most > 0 && !isovalues), context, PMB_INVALID,
    "pmb_suggest: most is %lld, isovalues %s, count %s", (long long)most, isovalues ? "set" : "NULL",
    count ? "set" : "NULL");
  *count = 0;
  PMB_FAIL_IF(!context->bound, context, PMB_INVALID, "pmb_suggest: no volume is bound; call pmb_bind first");
  const int64_t *dims = context->volume.dims;
  if (!(context->info.minimum < context->info.maximum) || dims[0] < 2 || dims[1] < 2 || dims[2] < 2) {
    return PMB_OK;
  }
  pmb_histogram_request request = { .struct_size = sizeof(request),
    .low = context->info.minimum,
    .high = context->info.maximum,
    .bins = BINS,
    .touched = touched };
  pmb_fill fill = { NAN, 0 };
  int64_t bricks = context->info.bricks;
  for (int end = -1; end < 2 && bricks == context->info.bricks; end += 2) {
    PMB_STEP(find_fill(context, &request, end, &fill, &bricks));
  }
  PMB_STEP(find_range(context, &request, fill, SMALL, EMPTY));
  request.crossed = crossed;
  PMB_STEP(pmb_histogram_without(context, &request, fill));
  const int n = add_bins(touched, crossed, bins, choose_bins(touched, bricks, bins));
  for (int i = 0; i < n && i < most; ++i) {
    isovalues[i] = pmb_histogram_isovalue(&request, bins[i]);
    *count = i + 1;
  }
  return PMB_OK;
}
