/* SPDX-License-Identifier: BSD-3-Clause
 * Pass classify of one brick, for samples handled as PMB_REAL; included by pmb_cpu_loops.c. */

/* Hidden samples of a loaded row become NaN: what follows from them is then left out everywhere. */
static void PMB_REAL_NAME(hide_samples)(
  const pmb_cpu *cpu, const box *b, int y, int z, PMB_REAL *row, const tile_rows *rows)
{
  const pmb_volume *v = cpu->volume;
  const int64_t j = clamp(b->origin[1] + y, v->dims[1]), k = clamp(b->origin[2] + z, v->dims[2]);
  for (int c = rows->begin; c < rows->end; ++c) {
    const int there = c < rows->offset ? rows->offset : c < rows->offset + rows->n ? c : rows->offset + rows->n - 1;
    row[c] = pmb_hides_sample(v, b->origin[0] - 1 + there, j, k) ? (PMB_REAL)NAN : row[c];
  }
}

/* Loads the rows of a brick that are wanted, bit (z + 1) * 7 + (y + 1), into the tile, from column `from` to `to`;
 * columns outside the volume repeat its border. */
static void PMB_REAL_NAME(load_rows)(
  const pmb_cpu *cpu, const box *b, uint64_t wanted, int from, int to, PMB_REAL *tile)
{
  tile_rows rows;
  find_tile_rows(cpu, b, from, to, &rows);
  loops_of(cpu)->load(cpu->volume->samples, &rows, wanted, tile);
  for (; b->hides && wanted; wanted &= wanted - 1) {
    const int bit = pmb_lowest_bit(wanted), y = bit % PMB_TILE_ROWS - 1, z = bit / PMB_TILE_ROWS - 1;
    PMB_REAL_NAME(hide_samples)(cpu, b, y, z, tile + bit * PMB_TILE_PITCH, &rows);
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
  tile_rows there;
  find_tile_rows(cpu, b, -1, PMB_TILE_COLUMNS - 2, &there);
  uint64_t any = 0;
  for (int z = from; z <= PMB_BRICK_Z; ++z) {
    for (int y = from; y <= PMB_BRICK_Y; ++y) {
      const PMB_REAL *row = tile + tile_index(-1, y, z);
      if (own_type) {
        const char *samples = (const char *)cpu->volume->samples + (there.y[y + 1] + there.z[z + 1]) * 8;
        rows->inside[z + 1][y + 1] = loops_of(cpu)->inside(samples, there.stride, there.n, isovalue) << there.offset;
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
  const int64_t *dims = cpu->volume->dims;
  tile_rows there;
  find_tile_rows(cpu, b, -1, PMB_TILE_COLUMNS - 2, &there);
  for (int z = from; z <= PMB_BRICK_Z; ++z) {
    for (int y = from; y <= PMB_BRICK_Y; ++y) {
      const int64_t j = b->origin[1] + y, k = b->origin[2] + z;
      const int exists = j >= 0 && j < dims[1] && k >= 0 && k < dims[2];
      uint64_t valid = exists ? ((1ull << there.n) - 1) << there.offset : 0;
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
  PMB_REAL_NAME(load_rows)(cpu, b, rows_from(-1), -1, PMB_TILE_COLUMNS - 2, tile);
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
}
