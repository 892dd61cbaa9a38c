/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pmb_bench_papers.c - the tables of the papers with this library and the systems of the papers in them; see usage(). */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/pmb_cuda.h"
#include "papers_report.h"

enum {
  REPEATS = 11,
  REPEATS_MOST = 100,
  REDUCE_MOST = 6,
  ROWS_MOST = 1000,
  CPU_REDUCE = 4,
  SYSTEMS_MOST = 16,
  USAGE = 2
};

typedef struct options {
  int tables[PAPERS_TABLES]; /* wanted */
  const char *systems[SYSTEMS_MOST];
  int system_count;
  int cpu, reduce, repeats, rows;
  const char *scans, *out;
} options;

typedef struct bench {
  options o;
  const papers_list *list;
  char device[128];
  papers_scan scans[PAPERS_SCANS_MOST];
  int scan_count;
  FILE *csv;
} bench;

static int usage(void)
{
  printf("usage: pmb_bench_papers [OPTION...]: the tables of the papers that PMB comes from and is compared with\n\n"
         "  --table NAME     only this one (again for more):");
  for (int n = 0; n < PAPERS_TABLES; n++) printf(" %s", papers_table_name((papers_table)n));
  printf("\n  --system NAME    only this one (again for more), beside PMB:");
  for (int n = 0; n < papers_cpu_list.count; n++)
    if (papers_cpu_list.entries[n].system != &papers_pmb_cpu) printf(" %s", papers_cpu_list.entries[n].system->name);
  printf(
    "\n  --scans FOLDER   real scans: raw files, and scans.txt (Testing/Benchmarks/Papers/export_scans.py)\n"
    "  --repeats N      median of so many, 1 to %d (%d)\n"
    "  --reduce N       sides divided by 2^N, 0 to %d (0; with --cpu %d)\n"
    "  --cpu            on the CPU: to try it; what is compared is the GPU's\n"
    "  --out FILE.csv   the same, to be read by programs\n\n"
    "first: with what is done once for a volume. change: a new isovalue. x: times PMB's. vertices and triangles\n"
    "with normals where the system has them, counts read back; volume, mesh and memory stay where they are.\n"
    "fail: no memory. WRONG: another number of triangles than PMB, not timed.\n",
    REPEATS_MOST, REPEATS, REDUCE_MOST, CPU_REDUCE);
  return 0;
}

/* A line for the user; the exit code. */
static int refuse(const char *format, ...)
{
  va_list list;
  va_start(list, format);
  fprintf(stderr, "pmb_bench_papers: ");
  vfprintf(stderr, format, list);
  fprintf(stderr, "\n");
  va_end(list);
  return USAGE;
}

static int parse_number(const char *option, const char *text, int least, int most, int *number)
{
  char *end;
  errno = 0;
  const long value = strtol(text, &end, 10);
  if (errno || end == text || *end || value < least || value > most)
    return refuse("%s takes a number from %d to %d, not '%s'", option, least, most, text);
  *number = (int)value;
  return 0;
}

static int parse_table(const char *text, options *o)
{
  for (int n = 0; n < PAPERS_TABLES; n++)
    if (!strcmp(text, papers_table_name((papers_table)n))) {
      o->tables[n] = 1;
      return 0;
    }
  return refuse("there is no table '%s'; --help lists them", text);
}

static int parse_system(const char *text, options *o)
{
  int known = 0;
  for (int n = 0; n < papers_cpu_list.count; n++) known |= !strcmp(text, papers_cpu_list.entries[n].system->name);
  if (!known) return refuse("there is no system '%s'; --help lists them", text);
  if (o->system_count == SYSTEMS_MOST) return refuse("too many --system");
  o->systems[o->system_count++] = text;
  return 0;
}

static int parse_value(const char *option, const char *value, options *o)
{
  if (!strcmp(option, "--table")) return parse_table(value, o);
  if (!strcmp(option, "--system")) return parse_system(value, o);
  if (!strcmp(option, "--repeats")) return parse_number(option, value, 1, REPEATS_MOST, &o->repeats);
  if (!strcmp(option, "--reduce")) return parse_number(option, value, 0, REDUCE_MOST, &o->reduce);
  if (!strcmp(option, "--rows")) return parse_number(option, value, 1, ROWS_MOST, &o->rows);
  if (!strcmp(option, "--scans")) o->scans = value;
  if (!strcmp(option, "--out")) o->out = value;
  return 0;
}

static int parse(int argc, char **argv, options *o)
{
  static const char *const with_value[] = { "--table", "--system", "--repeats", "--reduce", "--rows", "--scans",
    "--out" };
  int wanted = 0, failed = 0;
  for (int n = 1; n < argc && !failed; n++) {
    int takes = 0;
    for (size_t i = 0; i < sizeof with_value / sizeof *with_value; i++) takes |= !strcmp(argv[n], with_value[i]);
    if (!strcmp(argv[n], "--cpu"))
      o->cpu = 1;
    else if (!takes)
      return refuse("there is no option '%s'; --help lists them", argv[n]);
    else if (n + 1 == argc || !*argv[n + 1])
      return refuse("%s needs a value", argv[n]);
    else {
      failed = parse_value(argv[n], argv[n + 1], o);
      n++;
    }
  }
  for (int n = 0; n < PAPERS_TABLES; n++) wanted += o->tables[n];
  for (int n = 0; n < PAPERS_TABLES && !wanted; n++) o->tables[n] = 1;
  if (o->reduce < 0) o->reduce = o->cpu ? CPU_REDUCE : 0;
  return failed;
}

/* Why a volume of so many bytes cannot be measured here; NULL: it can. */
static const char *no_room(const bench *b, size_t bytes)
{
  static char why[200];
  const size_t host = papers_host.available(), device = b->list->place->available();
  const size_t spare = ((size_t)1 << 20) + bytes / 16;
  const int same = b->list->place == &papers_host;
  const size_t needed = bytes * (same ? 2 : 1) + spare; /* here the "device" has its copy beside it */
  const char *where = host && needed > host ? "this machine" : !same && device && needed > device ? "the GPU" : NULL;
  if (!where) return NULL;
  snprintf(why, sizeof why, "it needs %.1f MB, and %.1f MB are free on %s", 1e-6 * (double)needed,
    1e-6 * (double)(*where == 't' && where[2] == 'i' ? host : device), where);
  return why;
}

/* Percent of the cells that are active, where that was asked for. */
static double density_of(const papers_row *row, const void *samples)
{
  const int64_t *d = row->samples.dims;
  const double cells = (double)(d[0] - 1) * (double)(d[1] - 1) * (double)(d[2] - 1);
  return row->density > 0 ? 100 * (double)papers_active_cells(&row->samples, samples, row->isovalue) / cells : 0;
}

static int is_wanted(const options *o, const char *system)
{
  int wanted = o->system_count == 0;
  for (int n = 0; n < o->system_count; n++) wanted |= !strcmp(o->systems[n], system);
  return wanted;
}

/* All systems on a volume at the place. 0: the device is broken. */
static int run_systems(bench *b, const papers_row *row, double density, papers_task *task, papers_result *pmb)
{
  for (int n = 0; n < b->list->count; n++) {
    const papers_system *system = b->list->entries[n].system;
    if (system == &papers_pmb_cpu || !is_wanted(&b->o, system->name)) continue;
    task->triangles = pmb->outcome == PAPERS_MEASURED ? pmb->triangles : -1;
    const papers_result r = papers_measure(task, system);
    papers_report_result(row, density, &r, pmb, b->device, b->csv);
    if (r.outcome == PAPERS_BROKEN) return 0;
  }
  return 1;
}

/* Host memory less something for everyone else; a GPU is ours. */
static size_t limit_of(const papers_place *place)
{
  const size_t available = place->available();
  return available ? available - available / (place == &papers_host ? 8 : 64) : SIZE_MAX;
}

/* 0: the device is broken. */
static int run_filled(bench *b, papers_row *row, void *samples, double density)
{
  const papers_place *place = b->list->place;
  const size_t bytes = papers_samples_bytes(&row->samples);
  papers_volume volume = { samples, row->samples.type, { 0 } };
  memcpy(volume.dims, row->samples.dims, sizeof volume.dims);
  papers_task task = { place, &volume, row->isovalue, -1, b->o.repeats, limit_of(place) };
  papers_report_row(row, density);
  papers_result pmb = place == &papers_host ? papers_measure(&task, &papers_pmb_cpu)
                                            : papers_measure_pmb(&volume, row->isovalue, b->o.repeats);
  papers_report_result(row, density, &pmb, &pmb, b->device, b->csv);
  if (pmb.outcome == PAPERS_BROKEN) return 0;
  if (place == &papers_host) return run_systems(b, row, density, &task, &pmb);
  void *copy = place->allocate(bytes);
  const char *error = copy ? place->upload(copy, samples, bytes) : NULL;
  volume.samples = copy;
  task.limit = limit_of(place);
  int good = 1;
  if (copy && !error)
    good = run_systems(b, row, density, &task, &pmb);
  else
    printf("  the baselines are left out: %s\n", error ? error : "the GPU has no memory for the samples");
  if (copy) place->release(copy);
  return good && !error;
}

static int run_row(bench *b, papers_row *row)
{
  const size_t bytes = papers_samples_bytes(&row->samples);
  const char *why = no_room(b, bytes);
  void *samples = why ? NULL : malloc(bytes);
  int good = 1;
  if (!why && !samples) why = "no memory for the samples";
  if (!why && row->density > 0) papers_reach_density(&row->samples, row->density);
  if (!why) why = papers_fill(&row->samples, samples);
  if (why) {
    papers_report_left_out(row, why);
  } else {
    good = run_filled(b, row, samples, density_of(row, samples));
  }
  free(samples);
  return good;
}

static int run(bench *b)
{
  const size_t available = b->list->place->available();
  for (int table = 0; table < PAPERS_TABLES; table++) {
    static papers_rows rows;
    rows.count = 0;
    if (!b->o.tables[table]) continue;
    papers_report_title((papers_table)table);
    papers_table_rows(
      (papers_table)table, b->o.reduce, available ? available / 3 : SIZE_MAX, b->scans, b->scan_count, &rows);
    if (table == PAPERS_TABLE_MEMORY) papers_report_memory(b->csv);
    if (table == PAPERS_TABLE_SCANS && !b->scan_count) printf("No real scans: they are given with --scans.\n");
    for (int n = 0; n < rows.count && n < b->o.rows; n++)
      if (!run_row(b, &rows.row[n])) {
        fprintf(stderr, "pmb_bench_papers: the device reports an error: nothing can be measured any more\n");
        return 1;
      }
    papers_report_end();
  }
  return 0;
}

/* Sets list and device. Nonzero: it cannot be used. */
static int choose_device(bench *b)
{
  pmb_context *context = NULL;
  pmb_info info = { .struct_size = sizeof info };
  const pmb_options o = { .struct_size = sizeof o, .device = b->o.cpu ? PMB_DEVICE_CPU : PMB_DEVICE_GPU };
  b->list = &papers_cpu_list;
  if (pmb_create(&o, &context) != PMB_OK) {
    refuse("%s; mend: run it where there is an NVIDIA GPU, or try it with --cpu", pmb_error(NULL));
    return 1;
  }
  pmb_get_info(context, &info);
  snprintf(b->device, sizeof b->device, "%s", info.device_name ? info.device_name : "CPU");
  if (b->o.cpu) {
    printf("On the CPU: PMB with %d threads (%s), the baselines with one. What is compared is the GPU's.\n",
      info.threads, info.path);
  } else {
#ifdef PAPERS_WITH_GPU
    b->list = &papers_gpu_list;
#endif
    printf("%s\n", b->device);
  }
  pmb_destroy(context);
  return 0;
}

int main(int argc, char **argv)
{
  static bench b = { .o = { .repeats = REPEATS, .reduce = -1, .rows = ROWS_MOST } };
  if (argc == 2 && !strcmp(argv[1], "--help")) return usage();
  const int failed = parse(argc, argv, &b.o);
  if (failed) return failed;
#ifndef __OPTIMIZE__
  return refuse(
    "this build is without optimisation, and times of it would mislead; mend: -DCMAKE_BUILD_TYPE=Release");
#endif
  const char *error = b.o.scans ? papers_read_scans(b.o.scans, b.scans, &b.scan_count) : NULL;
  if (error) return refuse("--scans: %s", error);
  if (b.o.out) {
    b.csv = fopen(b.o.out, "w");
    if (!b.csv) return refuse("--out: %s: %s", b.o.out, strerror(errno));
    papers_report_header(b.csv);
  }
  if (choose_device(&b)) return 1;
  const int code = run(&b);
  if (b.csv && fclose(b.csv)) return refuse("--out: %s: %s", b.o.out, strerror(errno));
  return code;
}
