/* SPDX-License-Identifier: BSD-3-Clause
 * Pass classify: which edges and samples of each active brick have points, and how many triangles its cells have. Nearly all
 * bricks take sums of bits (pmb_cpu_classify_content.h). Where samples are joined, cells around these are looked up one by one;
 * where samples are hidden or not finite, all rules of pmb_brick.h are checked. */
#include "cpu/pmb_cpu_classify_content.h"

/* Marks the samples that the joined cells of a brick use, row z * 5 + y; returns the triangles of these cells. */
static uint32_t look_up_joined(const pmb_cpu_tables *tables, const pmb_cpu_words *inside, const pmb_cpu_words *same,
  const uint32_t *joined, uint32_t marks[PMB_EDGE_ROWS])
{
  uint32_t triangles = 0;
  for (int i = 0; i < PMB_BRICK_ROWS; ++i) {
    for (uint32_t rest = joined[i]; rest; rest &= rest - 1) {
      const int x = pmb_lowest_bit(rest);
      const unsigned cell_case = case_of_words(inside, i, x);
      const unsigned equal = case_of_words(same, i, x);
      const uint32_t kept = tables->kept[tables->power[cell_case] + tables->power[equal]];
      triangles += kept >> 8;
      for (uint32_t used = kept & 0xff; used; used &= used - 1) {
        const int c = pmb_lowest_bit(used);
        marks[((i >> 2) + (c >> 2)) * 5 + (i & 3) + (c >> 1 & 1)] |= (1u << x) << (c & 1);
      }
    }
  }
  return triangles;
}

/* Bits of a cell from those of 3 x 3 x 3 samples, `first` being its lowest corner's. */
PMB_INLINE unsigned cell_of_27(uint32_t bits, int first)
{
  const uint32_t b = bits >> first;
  return (b & 3) | (b >> 1 & 0xc) | (b >> 5 & 0x30) | (b >> 6 & 0xc0);
}

/* Whether a cell that is not the brick's own uses the point of the joined sample (x,y,z) of a brick. */
static int is_used_below(const pmb_cpu *cpu, const box *b, int x, int y, int z)
{
  const pmb_cpu_tables *tables = cpu->tables;
  const pmb_volume *v = cpu->volume;
  const int place[3] = { x, y, z };
  int low[3], high[3]; /* samples beside it that there are */
  uint32_t inside = 0, equal = 0;
  for (int a = 0; a < 3; ++a) {
    const int64_t i = b->origin[a] + place[a];
    low[a] = i > 0 ? -1 : 0;
    high[a] = i + 1 < v->dims[a] ? 1 : 0;
  }
  pmb_cpu_compare_around(cpu, b, place, low, high, &inside, &equal);
  for (int d = 1; d < 8; ++d) { /* bit a: the cell below along this axis */
    int exists = 1, other = 0;
    for (int a = 0; a < 3; ++a) {
      const int below = d >> a & 1;
      exists &= below ? low[a] < 0 : high[a] > 0;
      other |= below && place[a] == 0;
    }
    if (exists && other) {
      const int first = !(d & 1) + 3 * !(d & 2) + 9 * !(d & 4);
      const unsigned cell_case = cell_of_27(inside, first), same = cell_of_27(equal, first);
      if (tables->kept[tables->power[cell_case] + tables->power[same]] >> d & 1) {
        return 1;
      }
    }
  }
  return 0;
}

static void joined_content(
  const pmb_cpu *cpu, const box *b, const pmb_cpu_words *words, const pmb_cpu_words *equal, pmb_cpu_record *record)
{
  uint32_t joined[PMB_BRICK_ROWS], marks[PMB_EDGE_ROWS] = { 0 }, points = 0;
  sum_content(cpu, words, equal, b->n, 1, joined, record);
  record->triangles += look_up_joined(cpu->tables, words, equal, joined, marks);
  for (int i = 0; i < PMB_BRICK_ROWS; ++i) {
    const int y = i & 3, z = i >> 2;
    const uint32_t own = y < b->n[1] && z < b->n[2] ? first_bits(b->n[0]) : 0, face = y == 0 || z == 0 ? ~0u : 1;
    uint32_t mark = marks[z * 5 + y];
    /* Of samples that no cell of the brick uses those that other bricks' cells touch. */
    for (uint32_t rest = equal->low[i] & ~mark & face & own; rest; rest &= rest - 1) {
      const int x = pmb_lowest_bit(rest);
      mark |= (uint32_t)is_used_below(cpu, b, x, y, z) << x;
    }
    record->mask[PMB_SAMPLE][i] = mark;
    record->first[i] = (uint16_t)(record->first[i] + points);
    points += (uint32_t)pmb_popcount(mark);
  }
  record->points += points;
}

/* Pass classify, one brick, by the full rules. */
static void classify_by_full_rules(const pmb_cpu *cpu, const box *b, pmb_rows *rows, pmb_cpu_record *record)
{
  pmb_content content;
  pmb_cpu_read_rows(cpu, b, -1, rows);
  pmb_special_content(rows, &content);
  uint16_t first = 0;
  for (int row = 0; row < PMB_BRICK_ROWS; ++row) {
    record->first[row] = first;
    for (int kind = 0; kind < PMB_KINDS; ++kind) {
      record->mask[kind][row] = content.mask[kind][row];
      first = (uint16_t)(first + pmb_popcount(content.mask[kind][row]));
    }
  }
  record->points = (uint32_t)content.points;
  record->triangles = (uint32_t)content.triangles;
}

/* Asks for the samples of the next brick while this one is worked on: rows are far apart, so the hardware does not
 * foresee them. */
static inline void prefetch_brick(const pmb_cpu *cpu, const pmb_cpu_record *record)
{
  const pmb_volume *v = cpu->volume;
  const int64_t bytes = (int64_t)pmb_type_size(v->type), *s = v->strides;
  const int64_t x = (int64_t)record->position[0] * PMB_BRICK_X;
  const int64_t y = (int64_t)record->position[1] * PMB_BRICK_Y, z = (int64_t)record->position[2] * PMB_BRICK_Z;
  const int ny = pmb_cpu_extent(v->dims[1] - y, PMB_BRICK_Y), nz = pmb_cpu_extent(v->dims[2] - z, PMB_BRICK_Z);
  const int64_t row = PMB_BRICK_X * bytes * (s[0] == 1);
  const char *layer = (const char *)v->samples + (x * s[0] + y * s[1] + z * s[2]) * bytes;
  for (int k = 0; k < nz; ++k, layer += s[2] * bytes) {
    const char *first = layer;
    for (int j = 0; j < ny; ++j, first += s[1] * bytes) {
      for (int64_t b = 0; b <= row; b += 64) {
        __builtin_prefetch(first + b);
      }
    }
  }
}

/* Pass classify, one brick, for what nearly all bricks are. Returns 0 if the full rules are needed. */
static int classify_by_bits(const pmb_cpu *cpu, const box *b, pmb_cpu_record *record)
{
  pmb_cpu_words words, equal;
  int rules = PMB_RULES_SPECIAL;
  if (b->clean && !cpu->full_rules_only) {
    rules = pmb_cpu_compare_brick(cpu, b, &words, &equal);
  }
  if (rules == PMB_RULES_PLAIN) {
    plain_content(cpu, &words, b->n, record);
  } else if (rules == PMB_RULES_JOINED) {
    joined_content(cpu, b, &words, &equal, record);
  }
  record->rules = (uint16_t)rules;
  return rules != PMB_RULES_SPECIAL;
}

/* Bricks from the one in work to the one whose samples classify asks for; 1 to 6 were tried, see Docs/PERFORMANCE.md. */
enum { BRICKS_AHEAD = 3 };

void PMB_PATH_NAME(pmb_cpu_classify)(void *data, int worker, size_t i)
{
  const pmb_cpu *cpu = data;
  pmb_cpu_scratch *scratch = pmb_cpu_scratch_of(cpu, worker);
  pmb_cpu_record *records = cpu->found.records.data;
  const int64_t begin = (int64_t)i << cpu->found.chunk_shift;
  const int64_t end = pmb_cpu_smaller(begin + ((int64_t)1 << cpu->found.chunk_shift), cpu->found.record_count);
  uint32_t points = 0, triangles = 0;
  for (int64_t r = begin - BRICKS_AHEAD; r < end; ++r) {
    if (r + BRICKS_AHEAD < end && !cpu->is_cached) {
      prefetch_brick(cpu, &records[r + BRICKS_AHEAD]);
      for (size_t b = 0; b < sizeof(*records); b += 64) {
        __builtin_prefetch((const char *)&records[r + BRICKS_AHEAD] + b, 1);
      }
    }
    if (r < begin) {
      continue;
    }
    pmb_cpu_record *record = &records[r];
    box b;
    find_box(cpu, record, &b);
    if (!classify_by_bits(cpu, &b, record)) {
      classify_by_full_rules(cpu, &b, &scratch->rows, record);
    }
    record->points_before = points;
    record->triangles_before = triangles;
    points += record->points;
    triangles += record->triangles;
  }
  ((pmb_sizes *)cpu->found.chunks.data)[i] = (pmb_sizes){ points, triangles };
}
