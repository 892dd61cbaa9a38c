/* SPDX-License-Identifier: BSD-3-Clause
 * Slices are dealt out to threads by OpenMP, where the compiler has it. */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "papers_bench.h"

enum { OCTAVES = 3, ERROR_LENGTH = 4400 };

static const double cayley_isovalue = -0.012, rough_isovalue = 0.2;
static const double octave_waves[OCTAVES] = { 1, 5, 25 }, octave_heights[OCTAVES] = { 1, 0.12, 0.02 };

/* Integers lie around `middle`, where the isovalue is, in the whole type. */
static const struct kind {
  const char *name;
  pmb_type type;
  double low, high, middle, half;
} kinds[] = { { "u8", PMB_UINT8, 0, 255, 127.5, 127.5 }, { "i16", PMB_INT16, -32768, 32767, 0.5, 32767.5 },
  { "u16", PMB_UINT16, 0, 65535, 32767.5, 32767.5 }, { "f32", PMB_FLOAT32, -INFINITY, INFINITY, 0, 0 } };

static const struct kind *kind_of(pmb_type type)
{
  const struct kind *kind = kinds;
  while (kind->type != type) kind++;
  return kind;
}

const char *papers_type_name(pmb_type type)
{
  return kind_of(type)->name;
}

size_t papers_samples_bytes(const papers_samples *s)
{
  return (size_t)s->dims[0] * (size_t)s->dims[1] * (size_t)s->dims[2] * pmb_type_size(s->type);
}

double papers_samples_isovalue(papers_content content, pmb_type type)
{
  const double value = content == PAPERS_CAYLEY ? cayley_isovalue : rough_isovalue;
  return type == PMB_FLOAT32 ? value : kind_of(type)->middle;
}

/* ---- rows ---- */

/* What the rows of a volume are made from. */
typedef struct source {
  const papers_samples *volume;
  const char *scan;                                                 /* the scan's samples */
  double xs[PAPERS_SIDE_MOST];                                      /* Cayley: coordinates along x */
  float s[OCTAVES][PAPERS_SIDE_MOST], c[OCTAVES][PAPERS_SIDE_MOST]; /* rough: sines and cosines along x */
} source;

static double clamped(double value, double low, double high)
{
  return value < low ? low : value > high ? high : value;
}

/* Coordinate of sample i along an axis: on [-1,1], there and back. */
static double coordinate(const papers_samples *v, int axis, int64_t i)
{
  const int64_t n = v->dims[axis];
  const double x = v->scale * (n > 1 ? -1 + 2 * (double)i / (double)(n - 1) : 0);
  const double turned = x + 1 - 4 * floor((x + 1) / 4);
  return turned <= 2 ? turned - 1 : 3 - turned;
}

static void cayley_row(const source *from, int64_t y_index, int64_t k, double *row)
{
  const papers_samples *v = from->volume;
  const double y = coordinate(v, 1, y_index), z = coordinate(v, 2, k);
  const double rest = 1 - 4 * (y * y + z * z), product = 16 * y * z;
  for (int64_t i = 0; i < v->dims[0]; i++) row[i] = rest - from->xs[i] * (product + 4 * from->xs[i]);
}

static double phase(const papers_samples *v, int octave, int axis, int64_t i)
{
  return 2 * 3.14159265358979323846 * v->scale * octave_waves[octave] * (double)i + octave + axis;
}

static void rough_row(const source *from, int64_t y, int64_t k, double *row)
{
  const papers_samples *v = from->volume;
  for (int64_t i = 0; i < v->dims[0]; i++) row[i] = 0;
  for (int o = 0; o < OCTAVES; o++) {
    const double py = phase(v, o, 1, y), pz = phase(v, o, 2, k);
    const float height = (float)octave_heights[o], cy = height * (float)cos(py), sz = height * (float)sin(pz);
    const float rest = height * (float)sin(py) * (float)cos(pz);
    for (int64_t i = 0; i < v->dims[0]; i++) row[i] += from->s[o][i] * cy + rest + sz * from->c[o][i];
  }
}

static double sample_at(const void *samples, pmb_type type, int64_t at)
{
  return type == PMB_UINT8 ? ((const uint8_t *)samples)[at]
    : type == PMB_UINT16   ? ((const uint16_t *)samples)[at]
    : type == PMB_INT16    ? ((const int16_t *)samples)[at]
                           : (double)((const float *)samples)[at];
}

/* Where index i of a row of mirrored copies of n samples comes from. */
static int64_t tiled_index(int64_t i, int64_t n)
{
  const int64_t in = i % (2 * n);
  return in < n ? in : 2 * n - 1 - in;
}

static void tiled_row(const source *from, int64_t y, int64_t k, double *row)
{
  const papers_samples *v = from->volume;
  const int64_t *n = v->scan->dims, line = n[0] * (tiled_index(y, n[1]) + n[1] * tiled_index(k, n[2]));
  for (int64_t x = 0; x < v->dims[0]; x++) row[x] = sample_at(from->scan, v->type, line + tiled_index(x, n[0]));
}

/* The sample below index i of `to` samples among `from`, and how far it is to the next. */
static int64_t below(int64_t i, int64_t to, int64_t from, double *part)
{
  const double at = to > 1 ? (double)i * (double)(from - 1) / (double)(to - 1) : 0;
  const int64_t low = (int64_t)at < from - 2 ? (int64_t)at : from > 1 ? from - 2 : 0;
  *part = at - (double)low;
  return low;
}

static void resampled_row(const source *from, int64_t y, int64_t k, double *row)
{
  const papers_samples *v = from->volume;
  const int64_t *n = v->scan->dims, step = n[0] > 1, up = n[1] > 1 ? n[0] : 0, back = n[2] > 1 ? n[0] * n[1] : 0;
  double tx, ty, tz;
  const int64_t z = below(k, v->dims[2], n[2], &tz), line = n[0] * (below(y, v->dims[1], n[1], &ty) + n[1] * z);
  for (int64_t x = 0; x < v->dims[0]; x++) {
    const int64_t at = line + below(x, v->dims[0], n[0], &tx);
    double edge[4];
    for (int e = 0; e < 4; e++) {
      const int64_t corner = at + (e & 1 ? up : 0) + (e & 2 ? back : 0);
      edge[e] =
        (1 - tx) * sample_at(from->scan, v->type, corner) + tx * sample_at(from->scan, v->type, corner + step);
    }
    row[x] = (1 - tz) * ((1 - ty) * edge[0] + ty * edge[1]) + tz * ((1 - ty) * edge[2] + ty * edge[3]);
  }
}

/* Stores a row from sample `at` on; integers are rounded, after synthetic values were spread around their middle. */
static void store_row(const papers_samples *v, double *row, void *samples, int64_t at)
{
  const struct kind *kind = kind_of(v->type);
  const double isovalue = v->content == PAPERS_CAYLEY ? cayley_isovalue : rough_isovalue;
  const double slope = kind->half * (v->content == PAPERS_CAYLEY ? 8 : 0.4);
  for (int64_t i = 0; i < v->dims[0]; i++, at++) {
    if (v->type == PMB_FLOAT32) {
      ((float *)samples)[at] = (float)row[i];
      continue;
    }
    const double value = v->scan ? row[i] : kind->middle + slope * (row[i] - isovalue);
    const int rounded = (int)floor(clamped(value, kind->low, kind->high) + 0.5);
    if (v->type == PMB_UINT8)
      ((uint8_t *)samples)[at] = (uint8_t)rounded;
    else
      ((uint16_t *)samples)[at] = (uint16_t)rounded; /* or the bits of an int16_t */
  }
}

static void fill_slice(const source *from, void *samples, int64_t k)
{
  static void (*const rows[])(const source *, int64_t, int64_t, double *) = { [PAPERS_CAYLEY] = cayley_row,
    [PAPERS_ROUGH] = rough_row,
    [PAPERS_TILED] = tiled_row,
    [PAPERS_RESAMPLED] = resampled_row };
  const papers_samples *v = from->volume;
  double row[PAPERS_SIDE_MOST];
  for (int64_t y = 0; y < v->dims[1]; y++) {
    rows[v->content](from, y, k, row);
    store_row(v, row, samples, v->dims[0] * (y + v->dims[1] * k));
  }
}

/* ---- scans ---- */

static char error_text[ERROR_LENGTH];

static size_t scan_bytes(const papers_scan_file *scan)
{
  return (size_t)scan->dims[0] * (size_t)scan->dims[1] * (size_t)scan->dims[2] * pmb_type_size(scan->type);
}

static const char *load_scan(const papers_scan_file *scan, void *samples)
{
  const size_t bytes = scan_bytes(scan);
  FILE *file = fopen(scan->path, "rb");
  if (!file) {
    snprintf(error_text, sizeof error_text, "%s: %s", scan->path, strerror(errno));
    return error_text;
  }
  const size_t read = fread(samples, 1, bytes, file);
  const int more = read == bytes && fgetc(file) != EOF;
  fclose(file);
  if (read == bytes && !more) return NULL;
  snprintf(error_text, sizeof error_text, "%s has %s than the %zu bytes that scans.txt says", scan->path,
    more ? "more" : "less", bytes);
  return error_text;
}

const char *papers_fill(const papers_samples *v, void *samples)
{
  const papers_scan_file *scan = v->scan;
  if (v->content == PAPERS_SCAN) return load_scan(scan, samples);
  char *content = NULL;
  source *from = calloc(1, sizeof *from);
  const char *error = from ? NULL : "no memory for the tables of a volume";
  if (scan && !error) {
    content = malloc(scan_bytes(scan));
    error = content ? load_scan(scan, content) : "no memory for a scan";
  }
  for (int64_t i = 0; !error && i < v->dims[0]; i++) {
    from->xs[i] = coordinate(v, 0, i);
    for (int o = 0; o < OCTAVES; o++) from->s[o][i] = (float)sin(phase(v, o, 0, i));
    for (int o = 0; o < OCTAVES; o++) from->c[o][i] = (float)cos(phase(v, o, 0, i));
  }
  if (!error) {
    from->volume = v;
    from->scan = content;
#pragma omp parallel for schedule(dynamic)
    for (int64_t k = 0; k < v->dims[2]; k++) fill_slice(from, samples, k);
  }
  free(content);
  free(from);
  return error;
}

/* A line of scans.txt; 1: it is one. */
static int parse_scan(const char *line, const char *folder, papers_scan_file *scan)
{
  char type[8], file[256], more;
  long long dims[3];
  scan->type = (pmb_type)0;
  if (sscanf(line, "%31s %lld %lld %lld %7s %lf %255s %c", scan->name, dims, dims + 1, dims + 2, type,
        &scan->isovalue, file, &more) != 7)
    return 0;
  for (int n = 0; n < 4; n++)
    if (!strcmp(type, kinds[n].name)) scan->type = kinds[n].type;
  for (int axis = 0; axis < 3; axis++) {
    scan->dims[axis] = dims[axis];
    if (dims[axis] < 1 || dims[axis] > PAPERS_SIDE_MOST) return 0;
  }
  const int length = snprintf(scan->path, sizeof scan->path, "%s/%s", folder, file);
  return scan->type && isfinite(scan->isovalue) && length > 0 && (size_t)length < sizeof scan->path;
}

const char *papers_read_scans(const char *folder, papers_scan_file scans[PAPERS_SCANS_MOST], int *count)
{
  char path[4096], line[512];
  *count = 0;
  snprintf(path, sizeof path, "%s/scans.txt", folder);
  FILE *file = fopen(path, "r");
  if (!file) {
    snprintf(error_text, sizeof error_text, "%s: %s", path, strerror(errno));
    return error_text;
  }
  const char *error = NULL;
  for (int number = 1; !error && fgets(line, sizeof line, file); number++) {
    if (*count == PAPERS_SCANS_MOST || !parse_scan(line, folder, &scans[*count])) {
      snprintf(error_text, sizeof error_text, "%s:%d: not 'name nx ny nz u8|i16|u16|f32 isovalue file'%s", path,
        number, *count == PAPERS_SCANS_MOST ? ", or too many of them" : "");
      error = error_text;
    } else {
      ++*count;
    }
  }
  fclose(file);
  return error;
}

/* ---- density ---- */

static int64_t active_in_slice(const papers_samples *v, const void *samples, double isovalue, int64_t k)
{
  const int64_t nx = v->dims[0], ny = v->dims[1];
  int64_t active = 0;
  for (int64_t y = 0; y + 1 < ny; y++)
    for (int64_t x = 0; x + 1 < nx; x++) {
      int inside = 0;
      for (int c = 0; c < 8; c++) {
        const int64_t at = x + (c & 1) + nx * (y + (c >> 1 & 1) + ny * (k + (c >> 2)));
        inside += sample_at(samples, v->type, at) >= isovalue;
      }
      active += inside > 0 && inside < 8;
    }
  return active;
}

double papers_active_cells(const papers_samples *v, const void *samples, double isovalue)
{
  const double cells = (double)(v->dims[0] - 1) * (double)(v->dims[1] - 1) * (double)(v->dims[2] - 1);
  int64_t active = 0;
#pragma omp parallel for reduction(+ : active)
  for (int64_t k = 0; k < v->dims[2] - 1; k++) active += active_in_slice(v, samples, isovalue, k);
  return 100 * (double)active / cells;
}

void papers_reach_density(papers_samples *v, double density)
{
  enum { TRIES = 20, SIDE = 256 };
  papers_samples small = *v;
  double factor = 1, best = v->scale, least = INFINITY;
  while (small.dims[0] > SIDE || small.dims[1] > SIDE || small.dims[2] > SIDE) {
    for (int axis = 0; axis < 3; axis++) small.dims[axis] = small.dims[axis] < 4 ? 2 : small.dims[axis] / 2;
    factor *= 2;
  }
  /* The larger one's waves are as many for the whole volume; those of Cayley's surface are for the whole anyway. */
  const double waves = v->content == PAPERS_ROUGH ? factor : 1, wanted = density * factor;
  void *samples = malloc(papers_samples_bytes(&small));
  double scale = v->scale;
  for (int n = 0; samples && n < TRIES && least > 0.01; n++) {
    small.scale = scale * waves;
    if (papers_fill(&small, samples)) break;
    const double found = papers_active_cells(&small, samples, papers_samples_isovalue(v->content, v->type));
    const double error = found > 0 ? fabs(log(found / wanted)) : INFINITY;
    if (error < least) {
      least = error;
      best = scale;
    }
    scale *= found > 0 ? clamped(pow(wanted / found, 4.0 / (5 + n)), 0.5, 2) : 1.3;
  }
  free(samples);
  v->scale = best;
}
