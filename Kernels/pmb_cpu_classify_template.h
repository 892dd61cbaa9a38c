/* SPDX-License-Identifier: BSD-3-Clause
 * Pass classify of one brick, for samples handled as PMB_REAL; included by pmb_cpu_loops.c. */

/* Hidden samples of a loaded row become NaN: what follows from them is then left out everywhere. */
static void PMB_REAL_NAME(hide_samples)(
  const pmb_cpu *cpu, const box *b, int y, int z, PMB_REAL *row, const row_source *s)
{
  const pmb_volume *v = cpu->volume;
  const int64_t j = clamp(b->origin[1] + y, v->dims[1]), k = clamp(b->origin[2] + z, v->dims[2]);
  for (int c = s->offset; c < s->offset + s->n; ++c) {
    row[c] = pmb_hides_sample(v, b->origin[0] - 1 + c, j, k) ? (PMB_REAL)NAN : row[c];
  }
}

/* Loads row (y,z) of a brick, -1 <= y,z <= 5, into the tile; columns outside the volume repeat its border. */
static void PMB_REAL_NAME(load_row)(const pmb_cpu *cpu, const box *b, PMB_REAL *tile, int y, int z)
{
  const row_source s = source_of(cpu, b, y, z);
  PMB_REAL *row = tile + tile_index(-1, y, z);
  loops_of(cpu)->load(s.samples, cpu->volume->strides[0], s.n, row + s.offset);
  if (b->hides) {
    PMB_REAL_NAME(hide_samples)(cpu, b, y, z, row, &s);
  }
  if (s.offset) {
    row[0] = row[1];
  }
  for (int c = s.offset + s.n; c < PMB_TILE_COLUMNS; ++c) {
    row[c] = row[s.offset + s.n - 1];
  }
}

/* Inside and equal bits of loaded rows from..4 of a brick. Returns whether any sample of its 33 x 5 x 5 equals the
 * isovalue. */
static int PMB_REAL_NAME(row_bits)(const pmb_cpu *cpu, const box *b, const PMB_REAL *tile, int from, pmb_rows *rows)
{
  const pmb_isovalue *isovalue = cpu->isovalue;
#if PMB_REAL_WIDE
  const PMB_REAL threshold = isovalue->threshold_f64, value = isovalue->f64;
#else
  const PMB_REAL threshold = isovalue->threshold_f32, value = isovalue->f32;
#endif
  const int own_type = cpu->volume->type == PMB_INT64 || cpu->volume->type == PMB_UINT64;
  uint64_t any = 0;
  for (int z = from; z <= PMB_BRICK_Z; ++z) {
    for (int y = from; y <= PMB_BRICK_Y; ++y) {
      const PMB_REAL *row = tile + tile_index(-1, y, z);
      if (own_type) {
        const row_source s = source_of(cpu, b, y, z);
        rows->inside[z + 1][y + 1] = loops_of(cpu)->inside(s.samples, cpu->volume->strides[0], s.n, isovalue)
          << s.offset;
      } else {
        rows->inside[z + 1][y + 1] = PMB_REAL_NAME(bits_at_least)(row, threshold);
      }
      rows->equal[z + 1][y + 1] = isovalue->join ? PMB_REAL_NAME(bits_equal)(row, value) : 0;
      any |= y >= 0 && z >= 0 ? rows->equal[z + 1][y + 1] : 0;
    }
  }
  return (any & 0x3fffffffeu) != 0;
}

/* Valid bits of loaded rows from..4, and hidden cells; keeps equal bits only for valid samples. */
static void PMB_REAL_NAME(row_valid)(const pmb_cpu *cpu, const box *b, const PMB_REAL *tile, int from, pmb_rows *rows)
{
  for (int z = from; z <= PMB_BRICK_Z; ++z) {
    for (int y = from; y <= PMB_BRICK_Y; ++y) {
      const row_source s = source_of(cpu, b, y, z);
      uint64_t valid = s.exists ? ((1ull << s.n) - 1) << s.offset : 0;
      if (!b->clean) {
        valid &= PMB_REAL_NAME(bits_finite)(tile + tile_index(-1, y, z));
      }
      rows->valid[z + 1][y + 1] = valid;
      rows->equal[z + 1][y + 1] &= valid;
      if (y < PMB_BRICK_Y && z < PMB_BRICK_Z) {
        rows->hidden[z + 1][y + 1] = cpu->any_flags & PMB_BRICK_HIDES_CELLS ? hidden_cells(cpu, b, y, z) : 0;
      }
    }
  }
}

/* Pass classify, one brick, by the full rules. */
static void PMB_REAL_NAME(classify)(pmb_cpu *cpu, const box *b, pmb_cpu_scratch *scratch, pmb_cpu_record *record)
{
  PMB_REAL *tile = scratch->tile.PMB_REAL_NAME(t)[0];
  pmb_content content;
  for (int z = -1; z <= PMB_BRICK_Z; ++z) {
    for (int y = -1; y <= PMB_BRICK_Y; ++y) {
      PMB_REAL_NAME(load_row)(cpu, b, tile, y, z);
    }
  }
  PMB_REAL_NAME(row_bits)(cpu, b, tile, -1, &scratch->rows);
  PMB_REAL_NAME(row_valid)(cpu, b, tile, -1, &scratch->rows);
  pmb_content_exact(&scratch->rows, &content);
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
  record->exact = 1;
}
