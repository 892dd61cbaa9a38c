/* SPDX-License-Identifier: BSD-3-Clause
 * The CPU backend: data that its passes share, and the table of loops.
 *
 * Passes: summarize (bind), select, classify, scan (count), vertices and triangles (emit). pmb_cpu.c runs them. A file per
 * pass has its loops, compiled once per instruction set. */
#ifndef PMB_CPU_H
#define PMB_CPU_H

#include "core/pmb_backend.h"
#include "core/pmb_hidden.h"
#include "shared/pmb_brick.h"

enum {
  PMB_CPU_ISOVALUES = 16,       /* most isovalues in a group */
  PMB_CPU_KEPT_LEAST = 1 << 24, /* bytes that a group may keep in any case */
  /* Most and least bricks in a unit of parallel work. */
  PMB_CPU_SELECT_CHUNK = 8192,
  PMB_CPU_SELECT_CHUNK_LEAST = 1024,
  PMB_CPU_CHUNK_SHIFT = 6, /* active bricks, as powers of 2 */
  PMB_CPU_CHUNK_SHIFT_LEAST = 3,
  /* Bricks per worker at least, about 20 us of work: waking a thread takes a few us, starting one 20. */
  PMB_CPU_SUMMARIZED_EACH = 256,
  PMB_CPU_LOOKED_AT_EACH = 65536,
  PMB_CPU_LISTED_EACH = 2048,
  PMB_CPU_CLASSIFIED_EACH = 64,
  PMB_CPU_EMITTED_EACH = 8,
  /* Bytes of a row of samples in a block of summarize, so that its columns stay in the L1 cache, and of a layer, so that five
   * layers stay in L2. */
  PMB_CPU_ROW_BYTES = 4096,
  PMB_CPU_LAYER_BYTES = 65536,
  PMB_CPU_BLOCK_LAYERS = 16, /* most layers of bricks in a block */
  /* Volumes up to this size are assumed to stay in the cache: nothing is prefetched. */
  PMB_CPU_CACHED_BYTES = 4 << 20,
  PMB_CPU_SUMMARY_SPARE = 64, /* bricks that select reads at once */
  /* A tile holds a brick's samples -1..33 x -1..5 x -1..5: the brick, its halo, and neighbours for gradients. */
  PMB_TILE_PITCH = 48, /* a multiple of 16, so that rows are read in whole vectors */
  PMB_TILE_ROWS = 7,
  PMB_TILE_COLUMNS = 35,
  PMB_TILE_SIZE = PMB_TILE_ROWS * PMB_TILE_ROWS * PMB_TILE_PITCH,
  /* Ends of edges: [z][y][x], 5 x 5 rows of 33. */
  PMB_ENDS_PITCH = 36,
  PMB_ENDS_SIZE = 25 * PMB_ENDS_PITCH,
  PMB_BRICK_IDS = 3 * PMB_BRICK_MAX_TRIANGLES + 16, /* of a brick's triangles, and the surplus of the last write */
  PMB_EDGE_ROWS = 36 /* 25 rows of edges, and room to load 16 from the last cell's on */
};

/* Samples of a block's row and its halo, in whole cache lines. */
#define PMB_CPU_COLUMNS(type) ((PMB_CPU_ROW_BYTES + 64) / (int)sizeof(type))

#define PMB_NO_RECORD UINT32_MAX

/* An active brick between count and emit. */
typedef struct pmb_cpu_record {
  uint32_t mask[PMB_KINDS][PMB_BRICK_ROWS]; /* see pmb_content */
  uint16_t first[PMB_BRICK_ROWS];           /* points of the brick before each row */
  uint32_t points_before, triangles_before; /* in its chunk */
  uint32_t points, triangles;
  int32_t position[3]; /* brick coordinates */
  uint16_t rules;      /* PMB_RULES_PLAIN, ... */
  uint16_t inside;     /* the first sample is; set where rules is PMB_RULES_PLAIN */
} pmb_cpu_record;

/* The rules for a brick. Plain: no sample is hidden, not finite or joined. Joined: some are joined. Special: all rules of
 * pmb_brick.h. */
enum { PMB_RULES_PLAIN, PMB_RULES_JOINED, PMB_RULES_SPECIAL };

/* The triangles of a case, by the eight rows of edges around a row of cells: four of x edges, y fastest; two of y edges, by
 * z; two of z edges, by y. */
typedef struct pmb_cpu_case {
  /* Of each id: its row, plus 8 on an edge at the cell's upper x, plus 32 if the same edge at the lower x has a point. For a
   * point on a sample: 16 plus the row of samples, y fastest, plus 4 at the cell's upper x. */
  uint8_t corners[15];
  uint8_t ids; /* how many */
} pmb_cpu_case;

enum { PMB_CORNER_UPPER = 8, PMB_CORNER_SAMPLE = 16, PMB_CORNER_AFTER = 32, PMB_JOINED_CASES = 6561 };

/* The portable loops look ids up in a table of the brick's points: by row z * 5 + y, kind and column. */
enum { PMB_IDS_KIND = PMB_BRICK_X + 4, PMB_IDS_ROW = PMB_KINDS * PMB_IDS_KIND };

/* The place of a corner's id in that table, relative to the cell's own x edge. */
static inline int pmb_cpu_offset_of_corner(unsigned corner)
{
  static const uint8_t rows[8] = { 0, 1, 5, 6, 0, 5, 0, 1 }, axes[8] = { 0, 0, 0, 0, 1, 1, 2, 2 };
  if (corner & PMB_CORNER_SAMPLE) {
    return rows[corner & 3] * PMB_IDS_ROW + PMB_SAMPLE * PMB_IDS_KIND + (int)(corner >> 2 & 1);
  }
  return rows[corner & 7] * PMB_IDS_ROW + axes[corner & 7] * PMB_IDS_KIND + (int)(corner >> 3 & 1);
}

typedef struct pmb_cpu_tables {
  int mirrored;               /* for mirrored frames: the second and third id of a triangle are swapped */
  uint8_t places[256][8];     /* by byte: the places of its bits, lowest first */
  uint8_t further_loops[256]; /* by case: loops of the surface in the cell beyond the first */
  pmb_cpu_case plain[256];    /* by case, for cells without joined corners */
  int16_t offsets[256][16];   /* of their corners, see pmb_cpu_offset_of_corner */
  /* For cells whose joined corners are all inside: the 3^8 cases have the index power[inside corners] + power[joined
   * corners]. */
  uint16_t power[256];             /* 3^c for each bit c */
  uint16_t kept[PMB_JOINED_CASES]; /* bit c: corner c has a point of a triangle; << 8: how many triangles */
  pmb_cpu_case joined[PMB_JOINED_CASES];
} pmb_cpu_tables;

/* pmb_cpu_tables.c. The first call makes the tables. */
const pmb_cpu_tables *pmb_cpu_tables_for(int mirrored);

/* Makes an entry of `joined`. Joined corners need not be inside. */
void pmb_cpu_make_case(pmb_cpu_case *c, unsigned cell_case, unsigned equal, int mirrored);

/* The entry of a cell. made: room for an entry that the tables lack. */
PMB_INLINE const pmb_cpu_case *find_case(
  const pmb_cpu_tables *tables, unsigned cell_case, unsigned equal, const int joined, pmb_cpu_case *made)
{
  if (!joined) {
    return &tables->plain[cell_case];
  }
  if (equal & ~cell_case) {
    pmb_cpu_make_case(made, cell_case, equal, tables->mirrored);
    return made;
  }
  return &tables->joined[tables->power[cell_case] + tables->power[equal]];
}

/* Samples of a brick along an axis, halo included; left: samples of the volume from its first on. */
static inline int pmb_cpu_extent(int64_t left, int size)
{
  return left > size ? size + 1 : (int)left;
}

/* Results of select, classify and scan for an isovalue. */
typedef struct pmb_cpu_found {
  pmb_buffer map; /* brick -> record, uint32_t */
  pmb_buffer records;
  pmb_buffer chunks; /* per chunk of records: pmb_sizes of it; after scan of those before it */
  int64_t record_count;
  int64_t wanted;  /* records of the layers to extract; those of the layer above follow */
  int chunk_shift; /* records in a chunk, as a power of 2 */
} pmb_cpu_found;

/* A surface, for passes classify, vertices and triangles: of an isovalue in the volume, or of particles. What a pass does not use
 * may be unset. */
typedef struct pmb_cpu_surface {
  const pmb_volume *volume;
  const pmb_frame *frame;
  const pmb_cpu_tables *tables; /* for the frame */
  const pmb_isovalue *isovalue;
  int64_t bricks[3];
  const uint8_t *flags;    /* per brick: PMB_BRICK_NONFINITE, ... */
  int any_flags;           /* of all bricks */
  int is_cached;           /* see PMB_CPU_CACHED_BYTES */
  int full_rules_only;     /* the "reference" path */
  pmb_cpu_record *records; /* the active bricks */
  int64_t record_count;
  int chunk_shift;     /* records in a chunk, as a power of 2 */
  pmb_sizes *chunks;   /* per chunk of records: its sizes; after scan of those before it */
  const uint32_t *map; /* brick -> record */
  const pmb_mesh *mesh;
  pmb_sizes base; /* points and triangles in the mesh before the surface */
  void *scratch;  /* per worker, see pmb_cpu_scratch_size */
} pmb_cpu_surface;

/* The backend's state. */
typedef struct pmb_cpu {
  const pmb_volume *volume;
  int64_t bricks[3];
  int64_t brick_count;
  int64_t select_begin, select_end; /* bricks of the layers to extract, and of the layer above */
  pmb_buffer summary;               /* minima of all bricks, then maxima, in the samples' type */
  pmb_buffer flags;                 /* uint8_t per brick */
  int64_t block[3]; /* bricks in a block, the unit of work of summarize; the volume's last blocks may have fewer */
  int64_t blocks[3];
  pmb_buffer ranges; /* per block: pmb_cpu_range */
  int64_t select_chunk;
  pmb_buffer counts;                           /* per select chunk: int64_t */
  pmb_buffer scratch;                          /* per worker */
  pmb_cpu_found found;                         /* for this isovalue */
  pmb_cpu_found others[PMB_CPU_ISOVALUES - 1]; /* for the group's further isovalues */
  const pmb_isovalue *isovalue;
  pmb_cpu_surface surface; /* of this isovalue */
} pmb_cpu;

typedef struct pmb_cpu_range {
  double minimum, maximum;
  int flags;
} pmb_cpu_range;

/* Inside bits of a brick's 33 x 5 x 5 samples. Row z * 4 + y of `low` is (y,z), of `high` (y + 1,z), so that rows of 16 cells
 * lie side by side. The _next rows have the samples one further in x. Bits outside the volume are arbitrary. */
typedef struct pmb_cpu_words {
  uint32_t low[20], high[20], low_next[20], high_next[20];
} pmb_cpu_words;

/* A worker's memory for one brick. Volumes handled as float have only the first half of `tile`. */
typedef struct pmb_cpu_scratch {
  uint32_t ids[25 * PMB_IDS_ROW];           /* of its points; not with vectors */
  uint32_t brick_ids[PMB_BRICK_IDS];        /* of its triangles, before they are made wide */
  uint16_t list[PMB_BRICK_MAX_POINTS + 64]; /* row << 7 | kind << 5 | x */
  pmb_rows rows;
  pmb_cpu_words inside, equal;                   /* equal: not set where no points are joined */
  uint32_t cells[PMB_BRICK_ROWS];                /* those that give triangles, bit x of row z * 4 + y */
  PMB_ALIGNAS(64) double ends[PMB_ENDS_SIZE][4]; /* index gradient and sample, as float or double */
  double tile[PMB_TILE_SIZE];                    /* or float */
} pmb_cpu_scratch;

/* Bytes of scratch per worker for samples of a type, a multiple of a cache line. */
static inline size_t pmb_cpu_scratch_size(pmb_type type)
{
  const size_t half = sizeof(float) * PMB_TILE_SIZE;
  return (sizeof(pmb_cpu_scratch) - (pmb_type_is_wide(type) ? 0 : half) + 63) / 64 * 64;
}

static inline pmb_cpu_scratch *pmb_cpu_scratch_of(const pmb_cpu_surface *surface, int worker)
{
  char *all = (char *)surface->scratch;
  return (pmb_cpu_scratch *)(all + (size_t)worker * pmb_cpu_scratch_size(surface->volume->type));
}

/* pmb_cpu_attributes.c: interpolates the attributes at up to 16 points of a brick. list: see pmb_cpu_scratch; parameter: of each
 * point on its edge; first: index of the first point in the output. */
void pmb_cpu_interpolate_attributes(const pmb_cpu_surface *surface, const pmb_cpu_record *record,
  const uint16_t *list, const double *parameter, int n, int64_t first);

#endif
