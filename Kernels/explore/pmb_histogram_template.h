/* SPDX-License-Identifier: BSD-3-Clause
 * pmb_histogram's loop over bricks for samples of one type: PMB_TYPE, see pmb_each_type.h. */

/* Whether a mark is <= sample, exactly. */
PMB_INLINE int PMB_T_NAME(reaches)(const pmb_mark *mark, PMB_T sample)
{
  return PMB_T_IS_FLOAT || sizeof(PMB_T) < 8 ? mark->value <= (double)sample
    : (PMB_T)-1 < (PMB_T)1                   ? mark->threshold_i64 <= (int64_t)sample
                                             : mark->threshold_u64 <= (uint64_t)sample;
}

/* The number of marks, which ascend, that are <= sample. guess: where to begin; may be any number. */
PMB_INLINE int64_t PMB_T_NAME(place)(const pmb_mark *marks, int64_t count, PMB_T sample, double guess)
{
  int64_t i = !(guess > 0) ? 0 : guess < (double)count ? (int64_t)guess : count;
  while (i > 0 && !PMB_T_NAME(reaches)(&marks[i - 1], sample)) {
    --i;
  }
  while (i < count && PMB_T_NAME(reaches)(&marks[i], sample)) {
    ++i;
  }
  return i;
}

/* Adds the bricks of a chunk. */
static void PMB_T_NAME(add)(const pmb_curve *c, int64_t begin, int64_t end, int64_t *crossed, int64_t *touched)
{
  const PMB_T *lows = c->low_samples, *highs = c->high_samples;
  for (int64_t b = begin; b < end; ++b) {
    PMB_T low = lows[b], high = highs[b];
    const int fill_below = (double)low == c->fill.value, fill_above = (double)high == c->fill.value;
    if (!(low <= high) || (fill_below && fill_above)) { /* no finite, visible sample */
      continue;
    }
    if (fill_below || fill_above) {
      if (!c->fill.ends) {
        continue;
      }
      low = fill_below ? high : low;
      high = low;
    }
    const double from = ((double)low - c->low) * c->per_unit, to = ((double)high - c->low) * c->per_unit;
    ++crossed[PMB_T_NAME(place)(c->centers, c->center_count, low, from)];
    --crossed[PMB_T_NAME(place)(c->centers, c->center_count, high, to)];
    if ((double)high >= c->low && (double)low <= c->high) {
      ++touched[PMB_T_NAME(place)(c->borders, c->border_count, low, from)];
      --touched[PMB_T_NAME(place)(c->borders, c->border_count, high, to) + 1];
    }
  }
}
