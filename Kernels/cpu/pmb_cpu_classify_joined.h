/* SPDX-License-Identifier: BSD-3-Clause
 * What a brick gives to the mesh when all its samples are finite and visible and some of them, all inside, are joined:
 * plain_content's sums of bits, but cells around such samples are looked up one by one. Included by pmb_cpu_loops.c. */

#if defined(__AVX2__)

/* The cells of a brick with joined corners: what is found out about each, by row << 5 | x. */
typedef struct joined_cells {
  uint16_t list[PMB_BRICK_X * PMB_BRICK_ROWS + 64];
  uint8_t cases[PMB_BRICK_ROWS * PMB_BRICK_X], equal[PMB_BRICK_ROWS * PMB_BRICK_X];
  uint8_t used[PMB_BRICK_ROWS * PMB_BRICK_X]; /* corners with a point */
} joined_cells;

/* From bit x of the words of eight corners to bits of corners in the byte of each of 32 cells. */
PMB_INLINE void corners_to_cells(const pmb_cpu_words *words, int i, uint8_t *cells)
{
  const __m256i corners =
    _mm256_setr_epi32((int)words->low[i], (int)words->low_next[i], (int)words->high[i], (int)words->high_next[i],
      (int)words->low[i + 4], (int)words->low_next[i + 4], (int)words->high[i + 4], (int)words->high_next[i + 4]);
  _mm256_storeu_si256((__m256i *)cells, turn_words(corners));
}

/* Lists cells, bits x of a brick's rows. Returns how many. */
static int list_joined(const pmb_cpu *cpu, const uint32_t *joined, uint16_t *list)
{
#if !defined(__AVX512VBMI2__)
  return lanes_list_words(cpu->places, joined, list);
#else
  int n = 0;
  (void)cpu;
  for (int row = 0; row < PMB_BRICK_ROWS; row += 2) {
    n += lanes_list(joined[row] | (uint64_t)joined[row + 1] << 32, (unsigned)row << 5, list + n);
  }
  return n;
#endif
}

/* Marks the samples that the joined cells of a brick use, row z * 5 + y; returns the triangles of these cells. */
static uint32_t look_up_joined(const pmb_cpu *cpu, const pmb_cpu_words *inside, const pmb_cpu_words *same,
  const uint32_t *joined, uint32_t marks[PMB_EDGE_ROWS])
{
  const pmb_cpu_joined *table = pmb_cpu_joined_cases();
  joined_cells cells;
  uint32_t rows = 0, triangles = 0;
  for (int i = 0; i < PMB_BRICK_ROWS; ++i) {
    rows |= (uint32_t)(joined[i] != 0) << i;
  }
  for (uint32_t rest = rows; rest; rest &= rest - 1) {
    const int i = pmb_lowest_bit(rest);
    corners_to_cells(inside, i, cells.cases + i * PMB_BRICK_X);
    corners_to_cells(same, i, cells.equal + i * PMB_BRICK_X);
    memset(cells.used + i * PMB_BRICK_X, 0, PMB_BRICK_X);
  }
  const int n = list_joined(cpu, joined, cells.list);
  for (int i = 0; i < n; ++i) {
    const int code = cells.list[i];
    const uint32_t kept = table->kept[table->power[cells.cases[code]] + table->power[cells.equal[code]]];
    cells.used[code] = (uint8_t)kept;
    triangles += kept >> 8;
  }
  for (uint32_t rest = rows; rest; rest &= rest - 1) {
    const int i = pmb_lowest_bit(rest);
    uint32_t corners[8], *mark = marks + (i >> 2) * 5 + (i & 3);
    _mm256_storeu_si256(
      (__m256i *)corners, turn_bytes(_mm256_loadu_si256((const __m256i *)(cells.used + i * PMB_BRICK_X))));
    mark[0] |= corners[0] | corners[1] << 1;
    mark[1] |= corners[2] | corners[3] << 1;
    mark[5] |= corners[4] | corners[5] << 1;
    mark[6] |= corners[6] | corners[7] << 1;
  }
  return triangles;
}

#else

/* As above. */
static uint32_t look_up_joined(const pmb_cpu *cpu, const pmb_cpu_words *inside, const pmb_cpu_words *same,
  const uint32_t *joined, uint32_t marks[PMB_EDGE_ROWS])
{
  const pmb_cpu_joined *table = pmb_cpu_joined_cases();
  uint32_t triangles = 0;
  (void)cpu;
  for (int i = 0; i < PMB_BRICK_ROWS; ++i) {
    for (uint32_t rest = joined[i]; rest; rest &= rest - 1) {
      const int x = pmb_lowest_bit(rest);
      const unsigned cell_case = case_of_words(inside, i, x);
      const unsigned equal = case_of_words(same, i, x);
      const uint32_t kept = table->kept[table->power[cell_case] + table->power[equal]];
      triangles += kept >> 8;
      for (uint32_t used = kept & 0xff; used; used &= used - 1) {
        const int c = pmb_lowest_bit(used);
        marks[((i >> 2) + (c >> 2)) * 5 + (i & 3) + (c >> 1 & 1)] |= (1u << x) << (c & 1);
      }
    }
  }
  return triangles;
}

#endif

/* Bits of a cell from those of 3 x 3 x 3 samples, `first` being its lowest corner's. */
PMB_INLINE unsigned cell_of_27(uint32_t bits, int first)
{
  const uint32_t b = bits >> first;
  return (b & 3) | (b >> 1 & 0xc) | (b >> 5 & 0x30) | (b >> 6 & 0xc0);
}

/* Whether a cell that is not the brick's own uses the point of the joined sample (x,y,z) of a brick. */
static int is_used_below(const pmb_cpu *cpu, const box *b, int x, int y, int z)
{
  const pmb_cpu_joined *table = pmb_cpu_joined_cases();
  const pmb_volume *v = cpu->volume;
  const int place[3] = { x, y, z };
  int low[3], high[3]; /* samples beside it that there are */
  uint32_t inside = 0, equal = 0;
  int64_t element = 0;
  for (int a = 0; a < 3; ++a) {
    const int64_t i = b->origin[a] + place[a];
    low[a] = i > 0 ? -1 : 0;
    high[a] = i + 1 < v->dims[a] ? 1 : 0;
    element += i * v->strides[a];
  }
  loops_of(cpu)->around((const char *)v->samples + element * (int64_t)pmb_type_size(v->type), v->strides, low, high,
    cpu->isovalue, &inside, &equal);
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
      if (table->kept[table->power[cell_case] + table->power[same]] >> d & 1) {
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
  record->triangles += look_up_joined(cpu, words, equal, joined, marks);
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
