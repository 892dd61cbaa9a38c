/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pmb_bench_papers.c - the tables of the papers, with this library and the systems of the papers; see usage(). Built with
 * nvcc for a GPU, else for the emulator of one (PAPERS_EMULATED), where --cpu runs the same kernels on the CPU. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "papers_bench.h"

enum {
  REPEATS = 11,
  REDUCE_MOST = 6,
  ROWS_MOST = 1000,
  MEMORY_MOST = 1000,
  CPU_REDUCE = 4,
  SYSTEMS_MOST = 16,
  USAGE = 2
};

typedef struct bench {
  int tables[PAPERS_TABLES]; /* wanted */
  const char *systems[SYSTEMS_MOST];
  int system_count, cpu, reduce, repeats, rows, memory; /* reduce, repeats < 0, memory 0: not given */
  const char *scan_folder, *out;
  char device[128];
  papers_scan_file scans[PAPERS_SCANS_MOST];
  int scan_count;
  FILE *csv;
} bench;

static int usage(void)
{
  printf("usage: pmb_bench_papers [OPTION...]: the tables of the papers that PMB comes from and is compared with\n\n"
         "  --table NAME     only this one (again for more):");
  for (int n = 0; n < PAPERS_TABLES; n++) printf(" %s", papers_tables[n].name);
  printf("\n  --system NAME    only this one (again for more), beside PMB:");
  for (int n = 0; n < PAPERS_SYSTEMS; n++) printf(" %s", papers_systems[n]->name);
  printf(
    "\n  --scans FOLDER   real scans: raw files, and scans.txt (pvpython Data/scans.py FOLDER)\n"
    "  --repeats N      median of so many, 1 to %d (%d; with --cpu 1)\n"
    "  --reduce N       sides divided by 2^N, 0 to %d (0; with --cpu %d)\n"
    "  --memory N       leaves N GB of the GPU's memory free; the table limits alone takes 1, 6 and 24\n"
    "  --cpu            on an emulated GPU, to try it: the times mean nothing\n"
    "  --out FILE.csv   writes the lines to a file too; python3 Docs/papers.py makes tables and a figure of them\n\n"
    "A line has comma-separated values, named by the first one; others begin with #. first_ms: with what is done once for\n"
    "a volume. change_ms: a new isovalue. ratio: times PMB's. Vertices and triangles with normals where the system has\n"
    "them, counts read back; volume, mesh and memory stay where they are. fail: no memory. WRONG: another number of\n"
    "triangles than PMB, not timed.\n",
    PAPERS_REPEATS_MOST, REPEATS, REDUCE_MOST, CPU_REDUCE);
  return 0;
}

/* Prints a line for the user; returns the exit code. */
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

static int parse_table(const char *text, bench *b)
{
  for (int n = 0; n < PAPERS_TABLES; n++)
    if (!strcmp(text, papers_tables[n].name)) {
      b->tables[n] = 1;
      return 0;
    }
  return refuse("there is no table '%s'; --help lists them", text);
}

static int parse_system(const char *text, bench *b)
{
  int known = 0;
  for (int n = 0; n < PAPERS_SYSTEMS; n++) known |= !strcmp(text, papers_systems[n]->name);
  if (!known && strcmp(text, "pmb") != 0) return refuse("there is no system '%s'; --help lists them", text);
  if (b->system_count == SYSTEMS_MOST) return refuse("--system is given more than %d times", SYSTEMS_MOST);
  b->systems[b->system_count++] = text;
  return 0;
}

/* -1: there is no such option. */
static int parse_value(const char *option, const char *value, bench *b)
{
  if (!strcmp(option, "--table")) return parse_table(value, b);
  if (!strcmp(option, "--system")) return parse_system(value, b);
  if (!strcmp(option, "--repeats")) return parse_number(option, value, 1, PAPERS_REPEATS_MOST, &b->repeats);
  if (!strcmp(option, "--reduce")) return parse_number(option, value, 0, REDUCE_MOST, &b->reduce);
  if (!strcmp(option, "--memory")) return parse_number(option, value, 1, MEMORY_MOST, &b->memory);
  if (!strcmp(option, "--rows")) return parse_number(option, value, 1, ROWS_MOST, &b->rows);
  if (strcmp(option, "--scans") && strcmp(option, "--out")) return -1;
  if (!strcmp(option, "--scans")) b->scan_folder = value;
  if (!strcmp(option, "--out")) b->out = value;
  return *value ? 0 : refuse("%s needs a value", option);
}

static int parse(int argc, char **argv, bench *b)
{
  int wanted = 0, failed = 0;
  for (int n = 1; n < argc && !failed; n++) {
    if (!strcmp(argv[n], "--cpu")) {
      b->cpu = 1;
      continue;
    }
    const int last = n + 1 == argc;
    failed = parse_value(argv[n], last ? "" : argv[n + 1], b);
    if (failed < 0) return refuse("there is no option '%s'; --help lists them", argv[n]);
    n++;
  }
  for (int n = 0; n < PAPERS_TABLES; n++) wanted += b->tables[n];
  for (int n = 0; n < PAPERS_TABLES && !wanted; n++) b->tables[n] = 1;
  if (b->reduce < 0) b->reduce = b->cpu ? CPU_REDUCE : 0;
  if (b->repeats < 0) b->repeats = b->cpu ? 1 : REPEATS;
  return failed;
}

static int is_wanted(const bench *b, const char *system)
{
  int wanted = b->system_count == 0;
  for (int n = 0; n < b->system_count; n++) wanted |= !strcmp(b->systems[n], system);
  return wanted;
}

/* ---- report: lines of comma-separated values, to the screen and to the file ---- */

static void write_text(const bench *b, const char *format, ...)
{
  FILE *const to[] = { stdout, b->csv };
  for (int n = 0; n < 2 && to[n]; n++) {
    va_list list;
    va_start(list, format);
    vfprintf(to[n], format, list);
    va_end(list);
    fflush(to[n]);
  }
}

/* The ratio to PMB's; 0 if one of them is unknown. */
static double ratio(double value, double pmb)
{
  return value > 0 && pmb > 0 ? value / pmb : 0;
}

/* A system's line; `pmb`: PMB's on the same volume. density: percent of active cells, or 0. */
static void report(
  const bench *b, const papers_row *row, double density, const papers_result *r, const papers_result *pmb)
{
  const int64_t *d = row->samples.dims;
  const double memory = ratio((double)(r->acceleration + r->output), (double)(pmb->acceleration + pmb->output));
  if (*r->message) printf("# %s: %s\n", r->system, r->message);
  write_text(b, "%s,%s,%s,%s,%lld,%lld,%lld,%.9g,%.4g,%s,%s,%s,", papers_tables[row->table].name, row->name,
    row->kind, papers_type_name(row->samples.type), (long long)d[0], (long long)d[1], (long long)d[2], row->isovalue,
    density, b->device, r->system, papers_outcome_texts[r->outcome]);
  if (r->outcome == PAPERS_MEASURED)
    write_text(b, "%.5g,%.5g,%zu,%zu,,%lld,%lld,%.4g,%.4g,%.4g,%.4g,%.4g\n", r->first, r->change, r->acceleration,
      r->output, (long long)r->points, (long long)r->triangles, ratio(r->first, pmb->first),
      ratio(r->change, pmb->change), ratio((double)r->acceleration, (double)pmb->acceleration), memory,
      row->paper_triangles);
  else
    write_text(b, ",,,,%zu,,,,,,,%.4g\n", r->asked, row->paper_triangles);
}

/* The programs' bytes for the volumes of the OpenCL paper's table 3. */
static void report_memory(const bench *b)
{
  for (long long n = 2048; n >= 64; n /= 2) {
    const int64_t dims[3] = { n, n, n };
    const unsigned long long bytes[2] = { papers_hpmc_bytes(dims, 0, 0), papers_hp3d_bytes(dims) };
    for (int i = 0; i < 2; i++)
      write_text(b, "memory,formula,formula,,%lld,%lld,%lld,,,,%s,ok,,,%llu,,,,,,,,,\n", n, n, n, i ? "hp3d" : "hpmc",
        bytes[i]);
  }
}

/* ---- rows ---- */

/* Bytes that Linux reports as available without swapping; 0: unknown. */
static size_t host_available(void)
{
  char line[128];
  unsigned long long kilobytes = 0;
  FILE *file = fopen("/proc/meminfo", "r");
  while (file && fgets(line, sizeof line, file) && sscanf(line, "MemAvailable: %llu", &kilobytes) != 1) {
  }
  if (file) fclose(file);
  return (size_t)kilobytes * 1024;
}

/* Returns why a volume of this size cannot be made here, or NULL. */
static const char *no_room(size_t bytes)
{
  static char why[200];
  const size_t host = host_available(), needed = bytes + ((size_t)1 << 20) + bytes / 16;
  snprintf(why, sizeof why, "it needs %.1f MB, and %.1f MB are free on this machine", 1e-6 * (double)needed,
    1e-6 * (double)host);
  return host && needed > host ? why : NULL;
}

/* Measures all systems on samples on the GPU. Returns 0 if the device is broken. */
static int run_systems(
  const bench *b, const papers_row *row, double density, const papers_volume *volume, const papers_result *pmb)
{
  const size_t available = papers_available();
  const papers_task task = { volume, row->isovalue, pmb->outcome == PAPERS_MEASURED ? pmb->triangles : -1, b->repeats,
    available ? available - available / 64 : SIZE_MAX };
  for (int n = 0; n < PAPERS_SYSTEMS; n++) {
    if (!is_wanted(b, papers_systems[n]->name)) continue;
    const papers_result r = papers_measure(&task, papers_systems[n]);
    report(b, row, density, &r, pmb);
    if (r.outcome == PAPERS_BROKEN) return 0;
  }
  return 1;
}

/* 0: the device is broken. */
static int run_filled(const bench *b, const papers_row *row, const void *samples)
{
  const int64_t *dims = row->samples.dims;
  const size_t bytes = papers_samples_bytes(&row->samples);
  const double density = row->density > 0 ? papers_active_cells(&row->samples, samples, row->isovalue) : 0;
  papers_volume volume = { samples, row->samples.type, { dims[0], dims[1], dims[2] } };
  const papers_result pmb = papers_measure_pmb(&volume, row->isovalue, b->repeats);
  report(b, row, density, &pmb, &pmb);
  if (pmb.outcome == PAPERS_BROKEN) return 0;
  papers_memory memory = { .limit = SIZE_MAX };
  void *d_samples = papers_take(&memory, PAPERS_ACCELERATION, bytes);
  const char *error = d_samples ? papers_upload(d_samples, samples, bytes) : NULL;
  volume.samples = d_samples;
  if (!d_samples || error)
    printf("# the baselines are left out: %s\n", error ? error : "the GPU has no memory for the samples");
  const int good = !error && (!d_samples || run_systems(b, row, density, &volume, &pmb));
  papers_free_memory(&memory);
  return good;
}

static int run_row(const bench *b, papers_row *row)
{
  const size_t bytes = papers_samples_bytes(&row->samples);
  const char *why = no_room(bytes);
  void *samples = why ? NULL : malloc(bytes);
  if (!why && !samples) why = "no memory for the samples";
  if (!why && row->density > 0) papers_reach_density(&row->samples, row->density);
  if (!why) why = papers_fill(&row->samples, samples);
  if (why) printf("# %s (%s) is left out: %s\n", row->name, row->kind, why);
  const int good = why || run_filled(b, row, samples);
  free(samples);
  return good;
}

/* ---- the largest volume ---- */

/* Keeps all of the GPU's memory but some GB in use. Sides divided by 2^reduce: as much less. Returns 0 if that fails. */
static int hold_back(const bench *b, double gigabytes, papers_memory *ballast)
{
  const size_t available = papers_available(), left = (size_t)(1e9 * gigabytes) >> 3 * b->reduce;
  return available > left && papers_take(ballast, PAPERS_ACCELERATION, available - left) != NULL;
}

enum { PMB = PAPERS_SYSTEMS, EXPONENT_MOST = 36 };

/* The search for each system's largest volume. */
typedef struct limits {
  const bench *b;
  double gigabytes;
  int evaluated;
  int done[PAPERS_SYSTEMS + 1];            /* the last: PMB */
  papers_result above[PAPERS_SYSTEMS + 1]; /* with twice as many samples */
  int64_t triangles;                       /* of the present volume; < 0: unknown */
} limits;

/* Cayley's surface of 2^exponent samples, as in the paper's table 2: 512^3, 512^2 x 1024, 1024^2 x 512, 1024^3, ... */
static papers_row limit_row(const limits *l, int exponent)
{
  const int64_t side = (int64_t)1 << exponent / 3, wide = side << (exponent % 3 == 2);
  papers_row row = { .table = PAPERS_TABLE_LIMITS,
    .kind = l->evaluated ? "evaluated" : "stored",
    .samples = { PAPERS_CAYLEY, PMB_FLOAT32, { wide, wide, side << (exponent % 3 == 1) }, 1, NULL },
    .isovalue = papers_samples_isovalue(PAPERS_CAYLEY, PMB_FLOAT32) };
  snprintf(row.name, sizeof row.name, "Cayley in %g GB", l->gigabytes);
  return row;
}

/* Reports the largest volume, and why the one above failed. Returns 0 if the device is broken. */
static int limit_result(limits *l, int n, int exponent, const papers_result *r)
{
  const papers_result none = { 0 };
  const papers_row row = limit_row(l, exponent), above = limit_row(l, exponent + 1);
  l->done[n] = r->outcome == PAPERS_MEASURED;
  if (l->above[n].system && l->done[n]) report(l->b, &above, 0, &l->above[n], &none);
  if (l->done[n] || r->outcome == PAPERS_WRONG) report(l->b, &row, 0, r, &none);
  if (l->done[n]) l->triangles = r->triangles;
  l->above[n] = *r;
  return r->outcome != PAPERS_BROKEN;
}

/* PMB needs samples from this machine's memory. */
static int limit_pmb(limits *l, int exponent, const papers_volume *volume, papers_memory *input)
{
  const papers_row row = limit_row(l, exponent);
  const size_t bytes = papers_samples_bytes(&row.samples);
  void *samples = no_room(bytes) ? NULL : malloc(bytes);
  const int read = samples && !papers_download(samples, volume->samples, bytes);
  papers_free_memory(input);
  papers_result r = { .system = "pmb", .outcome = PAPERS_FAILED };
  papers_volume host = *volume;
  host.samples = samples;
  if (read) r = papers_measure_pmb(&host, row.isovalue, l->b->repeats);
  free(samples);
  return limit_result(l, PMB, exponent, &r);
}

/* All systems that are not done. Returns 0 if the device is broken. */
static int limit_try(limits *l, int exponent)
{
  const papers_row row = limit_row(l, exponent);
  const size_t bytes = papers_samples_bytes(&row.samples);
  papers_memory input = { .limit = SIZE_MAX };
  papers_volume volume = { NULL, PMB_FLOAT32, { row.samples.dims[0], row.samples.dims[1], row.samples.dims[2] } };
  void *d_samples = l->evaluated ? NULL : papers_take(&input, PAPERS_ACCELERATION, bytes);
  int good = 1;
  l->triangles = -1;
  if (!l->evaluated && !d_samples) return 1;
  if (d_samples) good = !papers_evaluate(&volume, d_samples);
  volume.samples = d_samples;
  for (int n = 0; good && n < PAPERS_SYSTEMS; n++) {
    if (l->done[n]) continue;
    const papers_task task = { &volume, row.isovalue, l->triangles, l->b->repeats < 3 ? l->b->repeats : 3, SIZE_MAX };
    const papers_result r = papers_measure(&task, papers_systems[n]);
    good = limit_result(l, n, exponent, &r);
  }
  if (good && !l->done[PMB]) good = limit_pmb(l, exponent, &volume, &input);
  papers_free_memory(&input);
  return good;
}

static int run_limits(const bench *b)
{
  static const double all[] = { 1, 6, 24 };
  int good = 1;
  for (int n = 0; n < 6 && good; n++) {
    limits l = { .b = b, .gigabytes = b->memory ? b->memory : all[n / 2], .evaluated = n % 2 };
    papers_memory ballast = { .limit = SIZE_MAX };
    if (b->memory && n > 1) break;
    for (int s = 0; s < PAPERS_SYSTEMS; s++) l.done[s] = !is_wanted(b, papers_systems[s]->name);
    l.done[PMB] = l.evaluated || !is_wanted(b, "pmb");
    if (!b->memory && !hold_back(b, l.gigabytes, &ballast))
      printf("# %g GB are left out: the GPU has less memory free\n", l.gigabytes);
    else
      for (int exponent = EXPONENT_MOST - 3 * b->reduce; good && exponent >= 6; exponent--)
        good = limit_try(&l, exponent);
    papers_free_memory(&ballast);
  }
  return good;
}

static int run_clouds(const bench *b)
{
  int good = 1;
  for (int side = 128 >> b->reduce; good && side <= 256 >> b->reduce; side *= 2) {
    papers_result results[PAPERS_CLOUDS];
    papers_row row = { .table = PAPERS_TABLE_CLOUDS,
      .kind = "animated",
      .samples = { PAPERS_ROUGH, PMB_FLOAT32, { side, side, side }, 1, NULL },
      .isovalue = PAPERS_CLOUD_ISOVALUE };
    snprintf(row.name, sizeof row.name, "%lld particles", (long long)papers_cloud(side, 0, NULL));
    good = papers_measure_cloud(side, b->repeats, results);
    for (int s = 0; s < PAPERS_CLOUDS; s++) report(b, &row, 0, &results[s], &results[0]);
  }
  return good;
}

static int run(const bench *b)
{
  static papers_rows rows;
  papers_memory ballast = { .limit = SIZE_MAX };
  if (b->memory && !hold_back(b, b->memory, &ballast)) return refuse("--memory %d: the GPU has less free", b->memory);
  const size_t available = papers_available();
  for (int table = 0; table < PAPERS_TABLES; table++) {
    if (!b->tables[table]) continue;
    rows.count = 0;
    printf("# %s\n", papers_tables[table].title);
    papers_table_rows(
      (papers_table)table, b->reduce, available ? available / 3 : SIZE_MAX, b->scans, b->scan_count, &rows);
    if (table == PAPERS_TABLE_MEMORY) report_memory(b);
    if (table == PAPERS_TABLE_SCANS && !b->scan_count) printf("# no real scans: --scans names their folder\n");
    int good = table == PAPERS_TABLE_LIMITS ? run_limits(b) : table != PAPERS_TABLE_CLOUDS || run_clouds(b);
    for (int n = 0; good && n < rows.count && n < b->rows; n++) good = run_row(b, &rows.row[n]);
    if (!good) {
      fprintf(stderr, "pmb_bench_papers: the device reports an error: nothing can be measured any more\n");
      return 1;
    }
  }
  papers_free_memory(&ballast);
  return 0;
}

/* Nonzero: no device can be used. */
static int choose_device(bench *b)
{
  pmb_context *context = NULL;
  pmb_info info = { .struct_size = sizeof info };
  const pmb_options o = { .struct_size = sizeof o, .device = PMB_DEVICE_GPU };
#ifdef PAPERS_EMULATED
  if (b->cpu) {
    setenv("PMB_EMULATOR_GPUS", "1", 0);
    setenv(
      "PMB_EMULATOR_MEMORY", "1000000000", 0); /* too little for pmb_measure_gpu's copy of 1 GiB, which takes long */
  }
#else
  if (b->cpu) return refuse("this build is for a GPU; fix: leave --cpu out, or build with -DPMB_CUDA=OFF");
#endif
  if (pmb_create(&o, &context) != PMB_OK) {
    refuse("%s; fix: run it where there is an NVIDIA GPU, or try it with --cpu", pmb_error(NULL));
    return 1;
  }
  pmb_get_info(context, &info);
  snprintf(b->device, sizeof b->device, "%s", info.device_name ? info.device_name : "GPU");
  printf("# %s%s\n", b->device, b->cpu ? ": the times mean nothing" : "");
  pmb_destroy(context);
  return 0;
}

int main(int argc, char **argv)
{
  static bench b = { .repeats = -1, .reduce = -1, .rows = ROWS_MOST };
  if (argc == 2 && !strcmp(argv[1], "--help")) return usage();
  const int failed = parse(argc, argv, &b);
  if (failed) return failed;
#ifndef __OPTIMIZE__
  return refuse("this build is without optimisation, and times of it would mislead; fix: -DCMAKE_BUILD_TYPE=Release");
#endif
  const char *error = b.scan_folder ? papers_read_scans(b.scan_folder, b.scans, &b.scan_count) : NULL;
  if (error) return refuse("--scans: %s", error);
  if (b.out) {
    b.csv = fopen(b.out, "w");
    if (!b.csv) return refuse("--out: %s: %s", b.out, strerror(errno));
  }
  const int no_device = choose_device(&b);
  if (no_device) return no_device;
  write_text(&b,
    "table,data,kind,type,nx,ny,nz,isovalue,density,device,system,outcome,first_ms,change_ms,acceleration_bytes,"
    "output_bytes,asked_bytes,vertices,triangles,first_ratio,change_ratio,acceleration_ratio,memory_ratio,"
    "paper_triangles\n");
  const int code = run(&b);
  if (b.csv && fclose(b.csv)) return refuse("--out: %s: %s", b.out, strerror(errno));
  return code;
}
