/* SPDX-License-Identifier: BSD-3-Clause */
#include "papers_bench.h"

/* The nearest that a baseline came to PMB in a table. */
typedef struct nearest {
  const char *what;
  double ratio; /* 0: none was measured */
  char where[120];
} nearest;

static nearest least[3] = { { .what = "first" }, { .what = "change" }, { .what = "memory" } };

static double cells_of(const papers_row *row)
{
  const int64_t *dims = row->samples.dims;
  return (double)(dims[0] - 1) * (double)(dims[1] - 1) * (double)(dims[2] - 1);
}

static void print_volume(const papers_row *row)
{
  const int64_t *dims = row->samples.dims;
  printf("%s (%s) %lld x %lld x %lld %s, isovalue %g", row->name, row->kind, (long long)dims[0], (long long)dims[1],
    (long long)dims[2], papers_type_name(row->samples.type), row->isovalue);
  if (row->paper_triangles > 0) printf("; the paper's has %.1f million triangles", 1e-6 * row->paper_triangles);
}

void papers_report_row(const papers_row *row, double density)
{
  printf("\n");
  print_volume(row);
  if (density > 0) printf("; %.2f%% of the cells are active (wanted: %.2f%%)", density, row->density);
  printf("\n  %-13s %9s %9s %9s %11s %11s %10s %10s  %8s %8s %8s\n", "system", "first ms", "change ms", "Mcells/s",
    "acceler. MB", "output MB", "vertices", "triangles", "first x", "change x", "memory x");
}

void papers_report_left_out(const papers_row *row, const char *why)
{
  printf("\n");
  print_volume(row);
  printf("\n  left out: %s\n", why);
}

static double memory_of(const papers_result *r)
{
  return (double)r->acceleration + (double)r->output;
}

/* How many times PMB's; 0 where one of them is not known. */
static double ratio(double value, double pmb)
{
  return value > 0 && pmb > 0 ? value / pmb : 0;
}

static void note(nearest *n, double value, const char *system, const papers_row *row)
{
  const int64_t *dims = row->samples.dims;
  if (value <= 0 || (n->ratio > 0 && value >= n->ratio)) return;
  n->ratio = value;
  snprintf(n->where, sizeof n->where, "%s on %s %lld x %lld x %lld", system, row->name, (long long)dims[0],
    (long long)dims[1], (long long)dims[2]);
}

void papers_report_nearest(void)
{
  if (least[0].ratio > 0) printf("\nThe nearest to PMB in this table:\n");
  for (int n = 0; n < 3; n++) {
    if (least[n].ratio > 0) printf("  %-7s %8.2f x  %s\n", least[n].what, least[n].ratio, least[n].where);
    least[n].ratio = 0;
  }
}

static void print_outcome(const papers_result *r, const papers_result *pmb)
{
  printf("  %-13s %s", r->system, papers_outcome_text(r->outcome));
  if (r->asked) printf(": %.1f MB asked for", 1e-6 * (double)r->asked);
  if (r->outcome == PAPERS_WRONG)
    printf(": %lld triangles, PMB has %lld", (long long)r->triangles, (long long)pmb->triangles);
  printf("%s%s\n", *r->message ? ": " : "", r->message);
}

void papers_report_header(FILE *csv)
{
  fprintf(csv,
    "table,data,kind,type,nx,ny,nz,isovalue,density,device,system,outcome,first_ms,change_ms,acceleration_bytes,"
    "output_bytes,asked_bytes,vertices,triangles,first_ratio,change_ratio,acceleration_ratio,memory_ratio,"
    "paper_triangles\n");
}

void papers_report_result(const papers_row *row, double density, const papers_result *r, const papers_result *pmb,
  const char *device, FILE *csv)
{
  const int64_t *dims = row->samples.dims;
  const double first = ratio(r->first, pmb->first), change = ratio(r->change, pmb->change);
  const double memory = ratio(memory_of(r), memory_of(pmb));
  const double acceleration = ratio((double)r->acceleration, (double)pmb->acceleration);
  if (r != pmb && r->outcome == PAPERS_MEASURED) {
    note(&least[0], first, r->system, row);
    note(&least[1], change, r->system, row);
    note(&least[2], memory, r->system, row);
  }
  if (r->outcome == PAPERS_MEASURED)
    printf("  %-13s %9.4f %9.4f %9.0f %11.2f %11.2f %10lld %10lld  %8.2f %8.2f %8.2f\n", r->system, r->first,
      r->change, r->change > 0 ? 1e-3 * cells_of(row) / r->change : 0, 1e-6 * (double)r->acceleration,
      1e-6 * (double)r->output, (long long)r->points, (long long)r->triangles, first, change, memory);
  else
    print_outcome(r, pmb);
  fflush(stdout);
  if (!csv) return;
  fprintf(csv, "%s,%s,%s,%s,%lld,%lld,%lld,%.9g,%.4g,%s,%s,%s,", papers_table_name(row->table), row->name, row->kind,
    papers_type_name(row->samples.type), (long long)dims[0], (long long)dims[1], (long long)dims[2], row->isovalue,
    density, device, r->system, papers_outcome_text(r->outcome));
  if (r->outcome == PAPERS_MEASURED)
    fprintf(csv, "%.5g,%.5g,%zu,%zu,,%lld,%lld,%.4g,%.4g,%.4g,%.4g,%.4g\n", r->first, r->change, r->acceleration,
      r->output, (long long)r->points, (long long)r->triangles, first, change, acceleration, memory,
      row->paper_triangles);
  else
    fprintf(csv, ",,,,%zu,,,,,,,%.4g\n", r->asked, row->paper_triangles);
  fflush(csv);
}

/* ---- memory of the HistoPyramids ---- */

/* Equation 2: a texture of M x M pixels of 16 bytes, 4 cells to a pixel, with all smaller ones. */
static double shader_bytes(int64_t n, int64_t *m)
{
  double bytes = 0;
  *m = 1;
  while (4 * *m * *m < n * n * n) *m *= 2;
  for (int64_t side = *m; side >= 1; side /= 2) bytes += 16 * (double)side * (double)side;
  return bytes;
}

/* Equation 1: 1 byte in the first two levels, 2 in the next three, then 4. */
static double opencl_bytes(int64_t n)
{
  double bytes = 0;
  int level = 0;
  for (int64_t side = n; side >= 1; side /= 2, level++)
    bytes += (level < 2 ? 1 : level < 5 ? 2 : 4) * (double)side * (double)side * (double)side;
  return bytes;
}

static void memory_line(FILE *csv, int64_t n, const char *system, double bytes)
{
  if (csv)
    fprintf(csv, "memory,formula,formula,,%lld,%lld,%lld,,,,%s,ok,,,%.0f,,,,,,,,,\n", (long long)n, (long long)n,
      (long long)n, system, bytes);
}

void papers_report_memory(FILE *csv)
{
  const double mib = 1024.0 * 1024.0;
  printf("MiB, without samples and mesh; 'here': what the baselines take for a volume of N^3 samples\n");
  printf("%6s %7s %14s %12s %14s %12s\n", "N", "M", "2D, formula", "hpmc here", "3D, formula", "hp3d here");
  for (int64_t n = 2048; n >= 64; n /= 2) {
    int64_t m;
    const double shader = shader_bytes(n, &m), opencl = opencl_bytes(n);
    const int64_t dims[3] = { n, n, n };
    const double hpmc = (double)papers_hpmc_bytes(dims, 0), hp3d = (double)papers_hp3d_bytes(dims);
    memory_line(csv, n, "hpmc", hpmc);
    memory_line(csv, n, "hp3d", hp3d);
    memory_line(csv, n, "hpmc formula", shader);
    memory_line(csv, n, "hp3d formula", opencl);
    printf("%6lld %7lld %14.1f %12.1f %14.1f %12.1f\n", (long long)n, (long long)m, shader / mib, hpmc / mib,
      opencl / mib, hp3d / mib);
  }
}
