/* SPDX-License-Identifier: BSD-3-Clause
 * pmb_histogram's loop over bricks; included once per sample type by pmb_histogram.c, which sets
 *   PMB_H_T, PMB_H_NAME(name)  the type
 *   PMB_H_COMPARE, PMB_H_MARK  the type to compare in, exactly, and the member of pmb_mark that has the marks in it */

/* How many of the marks, which never fall, are <= sample. `guess` saves a search; any number will do. */
PMB_INLINE int64_t PMB_H_NAME(place)(const pmb_mark *marks, int64_t count, PMB_H_T sample, double guess)
{
  const PMB_H_COMPARE s = (PMB_H_COMPARE)sample;
  int64_t i = !(guess > 0) ? 0 : guess < (double)count ? (int64_t)guess : count;
  while (i > 0 && marks[i - 1].PMB_H_MARK > s) {
    --i;
  }
  while (i < count && marks[i].PMB_H_MARK <= s) {
    ++i;
  }
  return i;
}

/* Adds the bricks of a chunk. */
static void PMB_H_NAME(add)(const pmb_curve *c, int64_t begin, int64_t end, int64_t *crossed, int64_t *touched)
{
  const PMB_H_T *lows = c->low_samples, *highs = c->high_samples;
  for (int64_t b = begin; b < end; ++b) {
    PMB_H_T low = lows[b], high = highs[b];
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
    ++crossed[PMB_H_NAME(place)(c->centers, c->center_count, low, from)];
    --crossed[PMB_H_NAME(place)(c->centers, c->center_count, high, to)];
    if ((double)high >= c->low && (double)low <= c->high) {
      ++touched[PMB_H_NAME(place)(c->borders, c->border_count, low, from)];
      --touched[PMB_H_NAME(place)(c->borders, c->border_count, high, to) + 1];
    }
  }
}

#undef PMB_H_T
#undef PMB_H_NAME
#undef PMB_H_COMPARE
#undef PMB_H_MARK
