/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pmb_bench_complexity.c - how the time of each pass grows: with the volume at a fixed surface, with the surface in a fixed
 * volume, with the number of isovalues and with that of arrays; with the exponents of power laws fitted to it.
 * usage: pmb_bench_complexity [--device cpu|gpu] [--threads N] [--max SIDE] [--sweep NAME] [--out FILE.csv]
 *   [--cpu-time] [--quick]
 * --cpu-time: of the processor, for a machine that does other things as well; only with --device cpu.
 * Exit code 0; 1: a count was wrong, or something failed; 2: wrong arguments; 3: a build whose times would mislead. */
#include "complexity.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALLEST = 32, FIRST = 64, LARGEST = 1024, MOST_FITS = 4 };
static const double clear_of_fixed = 8; /* rows in a fit take so many times as long as what every call costs */
static const double beyond_caches =
  1.6e7; /* samples, 64 MB: smaller volumes are read from a cache, which is faster */

/* All rows of a run, and where they go. */
typedef struct report {
  const settings *s;
  FILE *out;
  row rows[MOST_ROWS];
  int count;           /* of the sweep at hand */
  row both[MOST_ROWS]; /* of the two sweeps that change the surface of one volume */
  int both_count;
  int wrong, linear;
} report;

/* ---- printing ---- */

static void print_ms(double ms)
{
  if (ms < 0)
    printf(" %9s", "-");
  else
    printf(" %9.4f", ms);
}

static void print_heading(const char *text, const char *step)
{
  printf(
    "\n%s\n%5s %9s %11s %8s %8s %9s %9s", text, "side", step, "samples", "bricks", "active", "points", "triangles");
  for (int q = 0; q < QUANTITIES; q++) printf(" %9s", quantity_names[q]);
  printf("  counts\n");
}

static void print_row(const row *r, int64_t step)
{
  printf("%5lld %9lld %11lld %8lld %8lld %9lld %9lld", (long long)r->side, (long long)step, (long long)r->samples,
    (long long)r->bricks, (long long)r->active, (long long)r->sizes.points, (long long)r->sizes.triangles);
  for (int q = 0; q < QUANTITIES; q++) print_ms(r->ms[q]);
  printf("  %s\n", r->agrees ? "agree" : "WRONG");
  fflush(stdout);
}

static void write_row(FILE *out, const row *r)
{
  if (!out) return;
  fprintf(out, "%s,%lld,%lld,%lld,%lld,%lld,%d,%d,%lld,%lld", r->sweep, (long long)r->side, (long long)r->steps,
    (long long)r->samples, (long long)r->bricks, (long long)r->active, r->isovalues, r->arrays,
    (long long)r->sizes.points, (long long)r->sizes.triangles);
  for (int q = 0; q < QUANTITIES; q++)
    if (r->ms[q] < 0)
      fprintf(out, ",");
    else
      fprintf(out, ",%.6f", r->ms[q]);
  fprintf(out, ",%s,,,,\n", r->agrees ? "agree" : "wrong");
}

/* expected: what the exponent should be, in words; most: the largest that is still no surprise. */
static void report_fit(report *rep, const char *sweep, fit *f, double most)
{
  fit_finish(f);
  if (isnan(f->exponent)) {
    printf("  %s against %s: no fit, %d of %d rows are large enough; should be %s\n", f->quantity, f->against,
      f->count, f->rows, f->expected);
    return;
  }
  double from = INFINITY, to = 0;
  for (int i = 0; i < f->rows; i++) {
    from = f->used[i] ? fmin(from, f->x[i]) : from;
    to = f->used[i] ? fmax(to, f->x[i]) : to;
  }
  const int more = f->exponent > most;
  printf("  %s against %s: exponent %.2f, should be %s; %d of %d rows, %.0f to %.0f%s\n", f->quantity, f->against,
    f->exponent, f->expected, f->count, f->rows, from, to, more ? "  MORE THAN EXPECTED" : "");
  rep->linear = rep->linear && !more;
  if (rep->out)
    fprintf(rep->out, "%s,,,,,,,,,,,,,,,,%s,%s,%.4f,%s\n", sweep, f->quantity, f->against, f->exponent, f->expected);
}

/* ---- rows ---- */

/* Measures and prints the next row of a sweep; step: what the sweep changes. */
static int add_row(report *rep, const cube *c, const double *isovalues, row r, int64_t step)
{
  if (!measure(rep->s, c, isovalues, &r)) return 0;
  rep->rows[rep->count++] = r;
  rep->wrong += !r.agrees;
  print_row(&r, step);
  write_row(rep->out, &r);
  return 1;
}

static int begin_sweep(report *rep, const char *name)
{
  rep->count = 0;
  return !rep->s->sweep || !strcmp(rep->s->sweep, name);
}

static int new_cube(cube *c, int64_t side)
{
  if (!memory_is_free(4.0 * (double)side * (double)side * (double)side, "the volume")) return 0;
  if (cube_new(c, side)) return 1;
  fprintf(stderr, "pmb_bench_complexity: no memory for %lld^3 samples\n", (long long)side);
  return 0;
}

/* What an isovalue change takes beyond one with one triangle. */
static double surface_ms(const row *r)
{
  return r->ms[CHANGE] - r->ms[SELECT];
}

/* The side of the volume of the sweeps that keep it. */
static int64_t fixed_side(const settings *s)
{
  int64_t side = FIRST;
  while (2 * side <= s->most / 2) side *= 2;
  return side;
}

/* ---- sweeps ---- */

static int sweep_volume(report *rep)
{
  static const int64_t sides[] = { SMALLEST, 64, 96, 128, 192, 256, 320, 384, 448, 512, 640, 768, 896, 1024 };
  const double isovalue = 0;
  fit bind = { .quantity = "bind", .against = "samples", .expected = "1" };
  fit select = { .quantity = "select", .against = "bricks", .expected = "at most 1" };
  fit surface = { .quantity = "change - select", .against = "samples", .expected = "0" };
  if (!begin_sweep(rep, "volume")) return 1;
  print_heading(
    "volume: a sphere with a radius of 24 samples in cubes that grow (the smallest has 12: only fixed costs)", "");
  for (size_t n = 0; n < sizeof sides / sizeof *sides && sides[n] <= rep->s->most; n++) {
    cube c;
    if (!new_cube(&c, sides[n])) return 0;
    cube_sphere(&c, sides[n] == SMALLEST ? 12 : 24);
    const int done = add_row(rep, &c, &isovalue, (row){ .sweep = "volume", .isovalues = 1 }, 0);
    cube_free(&c);
    if (!done) return 0;
  }
  bind.x_floor = beyond_caches;
  bind.floor = clear_of_fixed * rep->rows[0].ms[BIND];
  select.floor = 2 * rep->rows[0].ms[SELECT];
  for (int i = 1; i < rep->count; i++) {
    const row *r = rep->rows + i;
    fit_add(&bind, (double)r->samples, r->ms[BIND]);
    fit_add(&select, (double)r->bricks, r->ms[SELECT]);
    fit_add(&surface, (double)r->samples, surface_ms(r));
  }
  report_fit(rep, "volume", &bind, 1.1);
  report_fit(rep, "volume", &select, 1.1);
  report_fit(rep, "volume", &surface, 0.1);
  return 1;
}

static void keep_for_both(report *rep)
{
  for (int i = 0; i < rep->count && rep->both_count < MOST_ROWS; i++) rep->both[rep->both_count++] = rep->rows[i];
}

/* Spheres fill few bricks, gyroids all: together they tell what a brick costs from what a triangle does. */
static void report_both(const report *rep)
{
  double active, triangle, worst;
  if (fit_two(rep->both, rep->both_count, &active, &triangle, &worst))
    printf(
      "  surface and density: change - select = %.0f ns an active brick + %.2f ns a triangle; the worst of %d rows is %.0f%% "
      "off\n",
      active, triangle, rep->both_count, 100 * worst);
}

static int sweep_surface(report *rep)
{
  const int64_t side = fixed_side(rep->s), most = (side / 32) * (side / 32) * (side / 32);
  const double isovalue = 0;
  fit change = { .quantity = "change - select", .against = "triangles", .expected = "1" };
  fit active = { .quantity = "change - select", .against = "active bricks", .expected = "1" };
  fit bind = { .quantity = "bind", .against = "triangles", .expected = "0" };
  cube c;
  if (!begin_sweep(rep, "surface")) return 1;
  if (!new_cube(&c, side)) return 0;
  print_heading("surface: more and more spheres with a radius of 12 samples in one volume", "spheres");
  for (int64_t spheres = 1; spheres <= most; spheres *= 2) {
    cube_spheres(&c, spheres);
    if (!add_row(rep, &c, &isovalue, (row){ .sweep = "surface", .isovalues = 1, .steps = spheres }, spheres)) {
      cube_free(&c);
      return 0;
    }
  }
  cube_free(&c);
  for (int i = 0; i < rep->count; i++) {
    const row *r = rep->rows + i;
    change.floor = active.floor = clear_of_fixed * rep->rows[0].ms[SELECT];
    fit_add(&change, (double)r->sizes.triangles, surface_ms(r));
    fit_add(&active, (double)r->active, surface_ms(r));
    fit_add(&bind, (double)r->sizes.triangles, r->ms[BIND]);
  }
  report_fit(rep, "surface", &change, 1.1);
  report_fit(rep, "surface", &active, 1.1);
  report_fit(rep, "surface", &bind, 0.1);
  keep_for_both(rep);
  return 1;
}

static int sweep_density(report *rep)
{
  const int64_t side = fixed_side(rep->s);
  const double isovalue = 0.1;
  fit change = { .quantity = "change - select", .against = "triangles", .expected = "at most 1" };
  cube c;
  if (!begin_sweep(rep, "density")) return 1;
  if (!new_cube(&c, side)) return 0;
  print_heading("density: a gyroid with more and more periods in one volume, until every brick is active", "periods");
  for (int periods = 1; periods <= side / 8; periods *= 2) {
    cube_gyroid(&c, periods);
    if (!add_row(rep, &c, &isovalue, (row){ .sweep = "density", .isovalues = 1, .steps = periods }, periods)) {
      cube_free(&c);
      return 0;
    }
  }
  cube_free(&c);
  for (int i = 0; i < rep->count; i++)
    fit_add(&change, (double)rep->rows[i].sizes.triangles, surface_ms(rep->rows + i));
  change.floor = clear_of_fixed * rep->rows[0].ms[SELECT];
  report_fit(rep, "density", &change, 1.1);
  keep_for_both(rep);
  report_both(rep);
  return 1;
}

static int sweep_isovalues(report *rep)
{
  fit change = { .quantity = "change", .against = "isovalues", .expected = "at most 1" };
  const int64_t side = fixed_side(rep->s) > FIRST ? fixed_side(rep->s) / 2 : FIRST; /* 32 meshes are large */
  double isovalues[MOST_ISOVALUES];
  cube c;
  if (!begin_sweep(rep, "isovalues")) return 1;
  if (!new_cube(&c, side)) return 0;
  cube_gyroid(&c, 4);
  print_heading(
    "isovalues: of a gyroid of 4 periods, from -0.2 to 0.2, all with about the same surface", "isovalues");
  for (int count = 1; count <= MOST_ISOVALUES; count *= 2) {
    for (int i = 0; i < count; i++) isovalues[i] = -0.2 + 0.4 * (i + 0.5) / count;
    if (!add_row(rep, &c, isovalues, (row){ .sweep = "isovalues", .isovalues = count }, count)) {
      cube_free(&c);
      return 0;
    }
  }
  cube_free(&c);
  change.floor = clear_of_fixed * rep->rows[0].ms[SELECT];
  for (int i = 0; i < rep->count; i++) fit_add(&change, rep->rows[i].isovalues, rep->rows[i].ms[CHANGE]);
  report_fit(rep, "isovalues", &change, 1.1);
  return 1;
}

static int sweep_arrays(report *rep)
{
  fit emit = { .quantity = "emit - emit without", .against = "arrays", .expected = "1" };
  const double isovalue = 0.1;
  cube c;
  if (!begin_sweep(rep, "arrays")) return 1;
  if (!new_cube(&c, fixed_side(rep->s))) return 0;
  cube_gyroid(&c, 4);
  print_heading("arrays: float arrays interpolated to the points of a gyroid of 4 periods", "arrays");
  for (int arrays = 0; arrays <= MOST_ARRAYS; arrays += arrays < 4 ? 1 : 2)
    if (!add_row(rep, &c, &isovalue, (row){ .sweep = "arrays", .isovalues = 1, .arrays = arrays }, arrays)) {
      cube_free(&c);
      return 0;
    }
  cube_free(&c);
  for (int i = 1; i < rep->count; i++)
    fit_add(&emit, rep->rows[i].arrays, rep->rows[i].ms[EMIT] - rep->rows[0].ms[EMIT]);
  report_fit(rep, "arrays", &emit, 1.1);
  return 1;
}

/* ---- arguments ---- */

static int refuse(const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "pmb_bench_complexity: ");
  vfprintf(stderr, format, arguments);
  fprintf(stderr, "\n");
  va_end(arguments);
  return 2;
}

static int parse_number(const char *option, const char *text, long low, long high, long *value)
{
  char *end = NULL;
  *value = text ? strtol(text, &end, 10) : 0;
  if (!text || end == text || *end || *value < low || *value > high)
    return refuse("%s takes a number from %ld to %ld, not '%s'", option, low, high, text ? text : "");
  return 0;
}

static int parse_sweep(const char *text, settings *s)
{
  static const char *const names[] = { "volume", "surface", "density", "isovalues", "arrays" };
  for (size_t n = 0; text && n < sizeof names / sizeof *names; n++)
    if (!strcmp(text, names[n])) {
      s->sweep = names[n];
      return 0;
    }
  return refuse("--sweep takes volume, surface, density, isovalues or arrays, not '%s'", text ? text : "");
}

static int parse_device(const char *text, settings *s)
{
  if (!text || (strcmp(text, "cpu") && strcmp(text, "gpu")))
    return refuse("--device takes cpu or gpu, not '%s'", text ? text : "");
  s->device = strcmp(text, "gpu") ? PMB_DEVICE_CPU : PMB_DEVICE_GPU;
  return 0;
}

static int parse(int argc, char **argv, settings *s)
{
  int wrong = 0;
  for (int i = 1; i < argc && !wrong; i++) {
    const char *option = argv[i], *text = i + 1 < argc ? argv[i + 1] : NULL;
    long number = 0;
    if (!strcmp(option, "--quick") || !strcmp(option, "--cpu-time")) {
      *(option[2] == 'q' ? &s->quick : &s->cpu_time) = 1;
      continue;
    }
    i++;
    if (!strcmp(option, "--device"))
      wrong = parse_device(text, s);
    else if (!strcmp(option, "--threads")) {
      wrong = parse_number(option, text, 1, 1024, &number);
      s->threads = (int)number;
    } else if (!strcmp(option, "--max")) {
      wrong = parse_number(option, text, FIRST, LARGEST, &number);
      s->most = number;
    } else if (!strcmp(option, "--sweep"))
      wrong = parse_sweep(text, s);
    else if (!strcmp(option, "--out")) {
      wrong = text && *text ? 0 : refuse("--out takes a file to write");
      s->out = text;
    } else
      wrong = refuse(
        "there is no option '%s'; there are --device, --threads, --max, --sweep, --out, --cpu-time and --quick",
        option);
  }
  if (!wrong && s->cpu_time && s->device == PMB_DEVICE_GPU)
    wrong = refuse("--cpu-time knows nothing of --device gpu");
  return wrong;
}

static int run(const settings *s)
{
  static report rep;
  char device[256];
  if (!describe_device(s, device, sizeof device)) return 1;
  rep = (report){ .s = s, .linear = 1 };
  if (s->out) {
    rep.out = fopen(s->out, "w");
    if (!rep.out) return refuse("'%s' cannot be written", s->out);
    fprintf(rep.out,
      "sweep,side,step,samples,bricks,active,isovalues,arrays,points,triangles,bind_ms,select_ms,count_ms,"
      "emit_ms,change_ms,counts,quantity,against,exponent,expected\n");
  }
  printf(
    "%s; float32; milliseconds%s, the least of %s\n"
    "bind: the summary of a volume; select: an isovalue change with one triangle, so of fixed costs and selection; change: "
    "count and emit\n",
    device, s->cpu_time ? " of the processor" : "", s->quick ? "one" : "several");
  const int done =
    sweep_volume(&rep) && sweep_surface(&rep) && sweep_density(&rep) && sweep_isovalues(&rep) && sweep_arrays(&rep);
  if (rep.out && fclose(rep.out)) return refuse("'%s' cannot be written", s->out);
  if (!done) return 1;
  printf("\n%s; %s\n",
    rep.wrong ? "counts are WRONG" : "all counts agree with those of each edge and cell one by one",
    rep.linear ? "nothing grows faster than expected" : "something grows FASTER than expected");
  return rep.wrong != 0;
}

int main(int argc, char **argv)
{
  settings s = { .device = PMB_DEVICE_CPU, .most = 512 };
  const int wrong = parse(argc, argv, &s);
  if (wrong) return wrong;
#ifndef __OPTIMIZE__
  refuse("this build is without optimisation and its times would mislead; mend: cmake -DCMAKE_BUILD_TYPE=Release");
  return 3;
#endif
  return run(&s);
}
