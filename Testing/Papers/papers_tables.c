/* SPDX-License-Identifier: BSD-3-Clause */
#include "papers_bench.h"

const papers_table_names papers_tables[PAPERS_TABLES] = {
  { "cayley", "PMB (2016), table 2: Cayley's surface at growing resolution" },
  { "scans", "PMB (2016), table 3: CT and MRI" },
  { "densities", "HistoPyramids (2008), table 1: Cayley's surface as dense as the six data sets there" },
  { "sizes", "OpenCL (2012), table 1: one data set at five sizes" },
  { "memory", "OpenCL (2012), table 3: memory of the HistoPyramids" },
  { "limits", "PMB (2016), section 5.2: the largest volume in little memory" },
  { "clouds", "WebGL (2016): animated particles; first: the whole step, change: the mesh without the potential" },
};

enum { DENSITY_MOST = 50 }; /* where sides are divided, more would come out */

static double reduced(double density, int reduce)
{
  const double more = density * (double)(1 << reduce);
  return more < DENSITY_MOST ? more : DENSITY_MOST;
}

static papers_row *add(papers_rows *rows, papers_table table, const char *name, const char *kind,
  papers_content content, pmb_type type, const int64_t dims[3], int reduce)
{
  papers_row *row = &rows->row[rows->count++];
  *row = (papers_row){ .table = table,
    .kind = kind,
    .samples = { .content = content, .type = type, .scale = 1 },
    .isovalue = papers_samples_isovalue(content, type) };
  snprintf(row->name, sizeof row->name, "%s", name);
  for (int axis = 0; axis < 3; axis++) row->samples.dims[axis] = dims[axis] >> reduce < 2 ? 2 : dims[axis] >> reduce;
  return row;
}

static void add_cayley(papers_rows *rows, int reduce, size_t room)
{
  static const struct {
    int64_t dims[3];
    double triangles;
  } all[] = { { { 512, 512, 512 }, 1.3e6 }, { { 512, 512, 1024 }, 2.1e6 }, { { 1024, 1024, 512 }, 3.4e6 },
    { { 1024, 1024, 1024 }, 5.0e6 }, { { 1024, 1024, 2048 }, 8.4e6 }, { { 2048, 2048, 1024 }, 13.4e6 },
    { { 2048, 2048, 2048 }, 20.1e6 }, { { 2048, 2048, 4096 }, 33.5e6 } };
  for (size_t n = 0; n < sizeof all / sizeof *all; n++) {
    const size_t samples = (size_t)all[n].dims[0] * (size_t)all[n].dims[1] * (size_t)all[n].dims[2];
    const pmb_type type = (samples >> 3 * reduce) * 4 <= room ? PMB_FLOAT32 : PMB_UINT8;
    papers_row *row = add(rows, PAPERS_TABLE_CAYLEY, "Cayley", "analytic", PAPERS_CAYLEY, type, all[n].dims, reduce);
    row->paper_triangles = reduce ? 0 : all[n].triangles;
  }
}

/* The surface of a stand-in is as large as the paper's in the whole volume; each active cell has two triangles. */
static papers_row *add_rough(
  papers_rows *rows, papers_table table, const char *name, const int64_t dims[3], double triangles, int reduce)
{
  papers_row *row = add(rows, table, name, "synthetic", PAPERS_ROUGH, PMB_UINT16, dims, reduce);
  row->samples.scale = 2.0 / (double)row->samples.dims[0];
  row->density = reduced(50 * triangles / ((double)dims[0] * (double)dims[1] * (double)dims[2]), reduce);
  row->paper_triangles = reduce ? 0 : triangles;
  return row;
}

static void add_scans(papers_rows *rows, int reduce, const papers_scan_file *scans, int scan_count)
{
  static const struct {
    const char *name;
    int64_t dims[3];
    double triangles;
  } all[] = { { "visMale", { 512, 512, 512 }, 2.8e6 }, { "backpack", { 512, 512, 512 }, 3.8e6 },
    { "hazelnut", { 512, 512, 512 }, 3.4e6 }, { "Xmastree", { 512, 512, 512 }, 1.5e6 },
    { "ncat", { 512, 512, 512 }, 2.5e6 }, { "aneurism", { 512, 512, 512 }, 0.7e6 },
    { "trabecula", { 512, 512, 512 }, 1.6e6 }, { "macoessix", { 512, 512, 512 }, 3.8e6 },
    { "abdomen", { 512, 512, 512 }, 3.3e6 }, { "manix", { 512, 512, 512 }, 3.3e6 },
    { "melanix", { 512, 512, 1024 }, 2.5e6 }, { "visFemale", { 512, 512, 1024 }, 3.4e6 },
    { "stagBeetle", { 1024, 1024, 512 }, 6.5e6 }, { "flower", { 1024, 1024, 1024 }, 22.1e6 },
    { "rm", { 1024, 1024, 1024 }, 49.4e6 }, { "beechnut", { 1024, 1024, 1546 }, 64.2e6 } };
  static const struct {
    papers_content content;
    const char *kind;
    int64_t side;
  } ways[] = { { PAPERS_SCAN, "scan", 0 }, { PAPERS_TILED, "tiled scan", 512 },
    { PAPERS_RESAMPLED, "resampled scan", 512 }, { PAPERS_TILED, "tiled scan", 1024 },
    { PAPERS_RESAMPLED, "resampled scan", 1024 } };
  for (int s = 0; s < scan_count; s++)
    for (size_t n = 0; n < sizeof ways / sizeof *ways; n++) {
      const int64_t side = ways[n].side, cube[3] = { side, side, side };
      papers_row *row = add(rows, PAPERS_TABLE_SCANS, scans[s].name, ways[n].kind, ways[n].content, scans[s].type,
        side ? cube : scans[s].dims, side ? reduce : 0);
      row->samples.scan = &scans[s];
      row->isovalue = scans[s].isovalue;
    }
  for (size_t n = 0; n < sizeof all / sizeof *all; n++)
    add_rough(rows, PAPERS_TABLE_SCANS, all[n].name, all[n].dims, all[n].triangles, reduce);
}

static void add_densities(papers_rows *rows, int reduce)
{
  enum { SIDES = 4 };
  static const struct {
    const char *name;
    int64_t flat; /* its z is so many times shorter */
    double density[SIDES];
  } all[] = { { "Bunny", 1, { 3.18, 5.64, 9.07, 13.57 } }, { "CTHead", 2, { 3.73, 6.25, 9.62, 14.46 } },
    { "MRBrain", 2, { 5.87, 7.35, 9.96, 14.91 } }, { "Bonsai", 1, { 3.04, 5.07, 6.69, 8.17 } },
    { "Aneurism", 1, { 1.60, 2.11, 3.70, 6.80 } }, { "Cayley", 1, { 0.93, 1.89, 3.87, 8.10 } } };
  for (size_t n = 0; n < sizeof all / sizeof *all; n++)
    for (int side = -1; side < SIDES; side++) { /* and a cube more, as dense as the paper's largest */
      const int64_t samples = 512 >> (side + 1);
      const int64_t dims[3] = { samples, samples, side < 0 ? samples : samples / all[n].flat };
      papers_row *row =
        add(rows, PAPERS_TABLE_DENSITIES, all[n].name, "analytic", PAPERS_CAYLEY, PMB_FLOAT32, dims, reduce);
      row->density = reduced(all[n].density[side < 0 ? 0 : side], reduce);
    }
}

static void add_sizes(papers_rows *rows, int reduce)
{
  for (int64_t side = 64; side <= 1024; side *= 2) {
    const int64_t dims[3] = { side, side, side };
    const double triangles = 0.7e6 * (double)(side * side) / (512.0 * 512.0); /* a surface, sampled more finely */
    papers_row *row = add_rough(rows, PAPERS_TABLE_SIZES, "aneurism", dims, triangles, reduce);
    row->paper_triangles = 0;
  }
}

void papers_table_rows(
  papers_table table, int reduce, size_t room, const papers_scan_file *scans, int scan_count, papers_rows *rows)
{
  if (table == PAPERS_TABLE_CAYLEY) add_cayley(rows, reduce, room);
  if (table == PAPERS_TABLE_SCANS) add_scans(rows, reduce, scans, scan_count);
  if (table == PAPERS_TABLE_DENSITIES) add_densities(rows, reduce);
  if (table == PAPERS_TABLE_SIZES) add_sizes(rows, reduce);
}
