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

static const struct {
  const char *name;
  pmb_type type;
} type_names[] = { { "u8", PMB_UINT8 }, { "i16", PMB_INT16 }, { "u16", PMB_UINT16 }, { "f32", PMB_FLOAT32 } };

const char *papers_type_name(pmb_type type)
{
  for (int n = 0; n < 4; n++)
    if (type_names[n].type == type) return type_names[n].name;
  return NULL;
}

static pmb_type type_of(const char *name)
{
  for (int n = 0; n < 4; n++)
    if (!strcmp(type_names[n].name, name)) return type_names[n].type;
  return (pmb_type)0;
}

size_t papers_samples_bytes(const papers_samples *s)
{
  return (size_t)s->dims[0] * (size_t)s->dims[1] * (size_t)s->dims[2] * pmb_type_size(s->type);
}

/* ---- from values to samples: integers of the whole type, the isovalue in the middle ---- */

static double middle_of(pmb_type type)
{
  return type == PMB_UINT8 ? 127.5 : type == PMB_UINT16 ? 32767.5 : type == PMB_INT16 ? 0.5 : 0;
}

/* Samples for a step of 1 in value. */
static double slope_of(papers_content content, pmb_type type)
{
  const double wide = content == PAPERS_CAYLEY ? 8 : 0.4;
  return type == PMB_UINT8 ? 127.5 * wide : type == PMB_FLOAT32 ? 1 : 32767.5 * wide;
}

double papers_samples_isovalue(papers_content content, pmb_type type)
{
  const double value = content == PAPERS_CAYLEY ? cayley_isovalue : rough_isovalue;
  return type == PMB_FLOAT32 ? value : middle_of(type);
}

/* ---- rows ---- */

/* What the slices of a volume are made from. */
typedef struct source {
  const papers_samples *volume;
  char *samples;
  const char *scan; /* the scan's samples */
} source;

static double clamped(double value, double low, double high)
{
  return value < low ? low : value > high ? high : value;
}

/* Rounds a row of samples into place. */
static void store_row(const source *j, int64_t at, const double *row)
{
  const int64_t n = j->volume->dims[0];
  switch (j->volume->type) {
    case PMB_UINT8:
      for (int64_t i = 0; i < n; i++) ((uint8_t *)j->samples)[at + i] = (uint8_t)(clamped(row[i], 0, 255) + 0.5);
      break;
    case PMB_UINT16:
      for (int64_t i = 0; i < n; i++) ((uint16_t *)j->samples)[at + i] = (uint16_t)(clamped(row[i], 0, 65535) + 0.5);
      break;
    case PMB_INT16:
      for (int64_t i = 0; i < n; i++)
        ((int16_t *)j->samples)[at + i] = (int16_t)(int)floor(clamped(row[i], -32768, 32767) + 0.5);
      break;
    default:
      for (int64_t i = 0; i < n; i++) ((float *)j->samples)[at + i] = (float)row[i];
      break;
  }
}

/* From values around an isovalue to samples around the middle of their type. */
static void store_values(const source *j, int64_t at, double *row, double isovalue)
{
  const papers_samples *v = j->volume;
  if (v->type != PMB_FLOAT32) {
    const double slope = slope_of(v->content, v->type), middle = middle_of(v->type);
    for (int64_t i = 0; i < v->dims[0]; i++) row[i] = middle + slope * (row[i] - isovalue);
  }
  store_row(j, at, row);
}

/* ---- analytic ---- */

/* On [-1,1], there and back. */
static double mirrored(double x)
{
  const double turned = x + 1 - 4 * floor((x + 1) / 4);
  return turned <= 2 ? turned - 1 : 3 - turned;
}

/* Coordinate of sample i along an axis. */
static double coordinate(const papers_samples *v, int axis, int64_t i)
{
  const int64_t n = v->dims[axis];
  return mirrored(v->scale * (n > 1 ? -1 + 2 * (double)i / (double)(n - 1) : 0));
}

static void cayley_slice(const source *j, int64_t k, double *row)
{
  const int64_t nx = j->volume->dims[0], ny = j->volume->dims[1];
  const double z = coordinate(j->volume, 2, k);
  double xs[PAPERS_SIDE_MOST];
  for (int64_t i = 0; i < nx; i++) xs[i] = coordinate(j->volume, 0, i);
  for (int64_t y_index = 0; y_index < ny; y_index++) {
    const double y = coordinate(j->volume, 1, y_index), rest = 1 - 4 * (y * y + z * z), product = 16 * y * z;
    for (int64_t i = 0; i < nx; i++) row[i] = rest - xs[i] * (product + 4 * xs[i]);
    store_values(j, nx * (y_index + ny * k), row, cayley_isovalue);
  }
}

static double phase(const papers_samples *v, int octave, int axis, int64_t i)
{
  const double pi = 3.14159265358979323846;
  return 2 * pi * v->scale * octave_waves[octave] * (double)i + octave + axis;
}

static void rough_slice(const source *j, int64_t k, double *row)
{
  const papers_samples *v = j->volume;
  const int64_t nx = v->dims[0], ny = v->dims[1];
  float sx[OCTAVES][PAPERS_SIDE_MOST], cx[OCTAVES][PAPERS_SIDE_MOST];
  for (int o = 0; o < OCTAVES; o++)
    for (int64_t i = 0; i < nx; i++) {
      sx[o][i] = (float)sin(phase(v, o, 0, i));
      cx[o][i] = (float)cos(phase(v, o, 0, i));
    }
  for (int64_t y = 0; y < ny; y++) {
    for (int64_t i = 0; i < nx; i++) row[i] = 0;
    for (int o = 0; o < OCTAVES; o++) {
      const double py = phase(v, o, 1, y), pz = phase(v, o, 2, k);
      const float height = (float)octave_heights[o], cy = height * (float)cos(py), sz = height * (float)sin(pz);
      const float rest = height * (float)sin(py) * (float)cos(pz);
      for (int64_t i = 0; i < nx; i++) row[i] += sx[o][i] * cy + rest + sz * cx[o][i];
    }
    store_values(j, nx * (y + ny * k), row, rough_isovalue);
  }
}

/* ---- scans ---- */

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

static void tiled_slice(const source *j, int64_t k, double *row)
{
  const papers_samples *v = j->volume;
  const int64_t *from = v->scan->dims, z = tiled_index(k, from[2]);
  for (int64_t y = 0; y < v->dims[1]; y++) {
    const int64_t line = from[0] * (tiled_index(y, from[1]) + from[1] * z);
    for (int64_t x = 0; x < v->dims[0]; x++) row[x] = sample_at(j->scan, v->type, line + tiled_index(x, from[0]));
    store_row(j, v->dims[0] * (y + v->dims[1] * k), row);
  }
}

/* The sample below index i of `to` samples among `from`, and how far it is to the next. */
static int64_t below(int64_t i, int64_t to, int64_t from, double *part)
{
  const double at = to > 1 ? (double)i * (double)(from - 1) / (double)(to - 1) : 0;
  const int64_t low = (int64_t)at < from - 2 ? (int64_t)at : from > 1 ? from - 2 : 0;
  *part = at - (double)low;
  return low;
}

static void resampled_slice(const source *j, int64_t k, double *row)
{
  const papers_samples *v = j->volume;
  const int64_t *from = v->scan->dims, step = from[0] > 1, up = from[1] > 1 ? from[0] : 0;
  double tx, ty, tz;
  const int64_t z = below(k, v->dims[2], from[2], &tz), back = from[2] > 1 ? from[0] * from[1] : 0;
  for (int64_t y = 0; y < v->dims[1]; y++) {
    const int64_t line = from[0] * (below(y, v->dims[1], from[1], &ty) + from[1] * z);
    for (int64_t x = 0; x < v->dims[0]; x++) {
      const int64_t at = line + below(x, v->dims[0], from[0], &tx);
      double edge[4];
      for (int n = 0; n < 4; n++) {
        const int64_t corner = at + (n & 1 ? up : 0) + (n & 2 ? back : 0);
        edge[n] = (1 - tx) * sample_at(j->scan, v->type, corner) + tx * sample_at(j->scan, v->type, corner + step);
      }
      row[x] = (1 - tz) * ((1 - ty) * edge[0] + ty * edge[1]) + tz * ((1 - ty) * edge[2] + ty * edge[3]);
    }
    store_row(j, v->dims[0] * (y + v->dims[1] * k), row);
  }
}

static char error_text[ERROR_LENGTH];

static const char *read_scan(const papers_scan_file *scan, void *samples, size_t bytes)
{
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

/* Reads the whole scan. */
static const char *load_scan(const papers_scan_file *scan, void *samples)
{
  const size_t count = (size_t)scan->dims[0] * (size_t)scan->dims[1] * (size_t)scan->dims[2];
  return read_scan(scan, samples, count * pmb_type_size(scan->type));
}

static void fill_slice(const source *j, int64_t k)
{
  static void (*const slices[])(const source *, int64_t, double *) = { [PAPERS_CAYLEY] = cayley_slice,
    [PAPERS_ROUGH] = rough_slice,
    [PAPERS_TILED] = tiled_slice,
    [PAPERS_RESAMPLED] = resampled_slice };
  double row[PAPERS_SIDE_MOST];
  slices[j->volume->content](j, k, row);
}

const char *papers_fill(const papers_samples *v, void *samples)
{
  const papers_scan_file *scan = v->scan;
  char *content = NULL;
  const char *error = NULL;
  if (v->content == PAPERS_SCAN) return load_scan(scan, samples);
  if (scan) {
    content = malloc((size_t)scan->dims[0] * (size_t)scan->dims[1] * (size_t)scan->dims[2] * pmb_type_size(v->type));
    error = content ? load_scan(scan, content) : "no memory for a scan";
  }
  const source j = { v, samples, content };
#pragma omp parallel for schedule(dynamic)
  for (int64_t k = 0; k < (error ? 0 : v->dims[2]); k++) fill_slice(&j, k);
  free(content);
  return error;
}

/* A line of scans.txt; 1: it is one. */
static int parse_scan(const char *line, const char *folder, papers_scan_file *scan)
{
  char type[8], file[256], more;
  long long dims[3];
  if (sscanf(line, "%31s %lld %lld %lld %7s %lf %255s %c", scan->name, dims, dims + 1, dims + 2, type,
        &scan->isovalue, file, &more) != 7)
    return 0;
  scan->type = type_of(type);
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
