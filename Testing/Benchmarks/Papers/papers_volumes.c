/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "papers_volumes.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS_MOST = 64, OCTAVES = 3, ERROR_LENGTH = 4400 };

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

pmb_type papers_type_of(const char *name)
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

/* ---- one job, its slices dealt out to threads ---- */

typedef struct job {
  const papers_samples *volume;
  char *samples;
  double *places[3];    /* Cayley: coordinates along each axis */
  float *s[OCTAVES][3]; /* rough: sines and cosines along each axis */
  float *c[OCTAVES][3];
  const char *scan; /* the scan's samples */
  double isovalue;  /* active cells */
  int64_t next;     /* slice */
  int64_t active;
  pthread_mutex_t mutex;
  void (*slice)(struct job *job, int64_t k, double *row);
} job;

static int64_t next_slice(job *j)
{
  pthread_mutex_lock(&j->mutex);
  const int64_t k = j->next++;
  pthread_mutex_unlock(&j->mutex);
  return k;
}

static void *work(void *data)
{
  job *j = data;
  double *row = malloc((size_t)j->volume->dims[0] * sizeof *row);
  for (int64_t k; row && (k = next_slice(j)) < j->volume->dims[2];) j->slice(j, k, row);
  free(row);
  return NULL;
}

static void run_job(job *j)
{
  pthread_t threads[THREADS_MOST];
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  const int wanted = cores < 1 ? 1 : cores > THREADS_MOST ? THREADS_MOST : (int)cores;
  int made = 0;
  pthread_mutex_init(&j->mutex, NULL);
  while (made < wanted - 1 && !pthread_create(&threads[made], NULL, work, j)) made++;
  work(j);
  for (int t = 0; t < made; t++) pthread_join(threads[t], NULL);
  pthread_mutex_destroy(&j->mutex);
}

static double clamped(double value, double low, double high)
{
  return value < low ? low : value > high ? high : value;
}

/* Rounds a row of samples into place. */
static void store_row(const job *j, int64_t at, const double *row)
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
static void store_values(const job *j, int64_t at, double *row, double isovalue)
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

static void cayley_slice(job *j, int64_t k, double *row)
{
  const int64_t nx = j->volume->dims[0], ny = j->volume->dims[1];
  const double *xs = j->places[0], z = j->places[2][k];
  for (int64_t y_index = 0; y_index < ny; y_index++) {
    const double y = j->places[1][y_index], rest = 1 - 4 * (y * y + z * z), product = 16 * y * z;
    for (int64_t i = 0; i < nx; i++) row[i] = rest - xs[i] * (product + 4 * xs[i]);
    store_values(j, nx * (y_index + ny * k), row, cayley_isovalue);
  }
}

static void rough_slice(job *j, int64_t k, double *row)
{
  const int64_t nx = j->volume->dims[0], ny = j->volume->dims[1];
  for (int64_t y = 0; y < ny; y++) {
    for (int64_t i = 0; i < nx; i++) row[i] = 0;
    for (int o = 0; o < OCTAVES; o++) {
      const float *sx = j->s[o][0], *cx = j->c[o][0];
      const float height = (float)octave_heights[o], cy = height * j->c[o][1][y], sz = height * j->s[o][2][k];
      const float rest = height * j->s[o][1][y] * j->c[o][2][k];
      for (int64_t i = 0; i < nx; i++) row[i] += sx[i] * cy + rest + sz * cx[i];
    }
    store_values(j, nx * (y + ny * k), row, rough_isovalue);
  }
}

/* The tables along an axis. 0: no memory. */
static int make_axis(job *j, int axis)
{
  const double pi = 3.14159265358979323846;
  const papers_samples *v = j->volume;
  const int64_t n = v->dims[axis];
  j->places[axis] = malloc((size_t)n * sizeof(double));
  if (!j->places[axis]) return 0;
  for (int64_t i = 0; i < n; i++)
    j->places[axis][i] = mirrored(v->scale * (n > 1 ? -1 + 2 * (double)i / (double)(n - 1) : 0));
  for (int o = 0; o < OCTAVES && v->content == PAPERS_ROUGH; o++) {
    j->s[o][axis] = malloc((size_t)n * sizeof(float));
    j->c[o][axis] = malloc((size_t)n * sizeof(float));
    if (!j->s[o][axis] || !j->c[o][axis]) return 0;
    for (int64_t i = 0; i < n; i++) {
      const double phase = 2 * pi * v->scale * octave_waves[o] * (double)i + o + axis;
      j->s[o][axis][i] = (float)sin(phase);
      j->c[o][axis][i] = (float)cos(phase);
    }
  }
  return 1;
}

static const char *fill_analytic(const papers_samples *v, void *samples)
{
  job j = { .volume = v, .samples = samples, .slice = v->content == PAPERS_CAYLEY ? cayley_slice : rough_slice };
  const int made = make_axis(&j, 0) && make_axis(&j, 1) && make_axis(&j, 2);
  if (made) run_job(&j);
  for (int axis = 0; axis < 3; axis++) {
    free(j.places[axis]);
    for (int o = 0; o < OCTAVES; o++) {
      free(j.s[o][axis]);
      free(j.c[o][axis]);
    }
  }
  return made ? NULL : "no memory for the tables of a volume";
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

static void tiled_slice(job *j, int64_t k, double *row)
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

static void resampled_slice(job *j, int64_t k, double *row)
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

static const char *read_scan(const papers_scan *scan, void *samples, size_t bytes)
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

static const char *fill_from_scan(const papers_samples *v, void *samples)
{
  const papers_scan *scan = v->scan;
  const papers_samples whole = { PAPERS_SCAN, scan->type, { scan->dims[0], scan->dims[1], scan->dims[2] }, 0, scan };
  const size_t bytes = papers_samples_bytes(&whole);
  if (v->content == PAPERS_SCAN) return read_scan(scan, samples, bytes);
  char *content = malloc(bytes);
  const char *error = content ? read_scan(scan, content, bytes) : "no memory for a scan";
  if (!error) {
    job j = { .volume = v,
      .samples = samples,
      .scan = content,
      .slice = v->content == PAPERS_TILED ? tiled_slice : resampled_slice };
    run_job(&j);
  }
  free(content);
  return error;
}

const char *papers_fill(const papers_samples *v, void *samples)
{
  return v->content < PAPERS_SCAN ? fill_analytic(v, samples) : fill_from_scan(v, samples);
}

/* A line of scans.txt; 1: it is one. */
static int parse_scan(const char *line, const char *folder, papers_scan *scan)
{
  char type[8], file[256], more;
  long long dims[3];
  if (sscanf(line, "%31s %lld %lld %lld %7s %lf %255s %c", scan->name, dims, dims + 1, dims + 2, type,
        &scan->isovalue, file, &more) != 7)
    return 0;
  scan->type = papers_type_of(type);
  for (int axis = 0; axis < 3; axis++) {
    scan->dims[axis] = dims[axis];
    if (dims[axis] < 1 || dims[axis] > 4096) return 0;
  }
  const int length = snprintf(scan->path, sizeof scan->path, "%s/%s", folder, file);
  return scan->type && isfinite(scan->isovalue) && length > 0 && (size_t)length < sizeof scan->path;
}

const char *papers_read_scans(const char *folder, papers_scan scans[PAPERS_SCANS_MOST], int *count)
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

/* ---- active cells ---- */

static void active_slice(job *j, int64_t k, double *row)
{
  const papers_samples *v = j->volume;
  const int64_t nx = v->dims[0], ny = v->dims[1];
  int64_t active = 0;
  (void)row;
  for (int64_t y = 0; k + 1 < v->dims[2] && y + 1 < ny; y++)
    for (int64_t x = 0; x + 1 < nx; x++) {
      int inside = 0;
      for (int c = 0; c < 8; c++) {
        const int64_t at = x + (c & 1) + nx * (y + (c >> 1 & 1) + ny * (k + (c >> 2)));
        inside += sample_at(j->samples, v->type, at) >= j->isovalue;
      }
      active += inside > 0 && inside < 8;
    }
  pthread_mutex_lock(&j->mutex);
  j->active += active;
  pthread_mutex_unlock(&j->mutex);
}

int64_t papers_active_cells(const papers_samples *v, const void *samples, double isovalue)
{
  job j = { .volume = v, .samples = (char *)(uintptr_t)samples, .isovalue = isovalue, .slice = active_slice };
  run_job(&j);
  return j.active;
}

/* ---- density ---- */

/* Percent of active cells; < 0: no memory. */
static double density_at(const papers_samples *v, void *samples, double isovalue)
{
  const double cells = (double)(v->dims[0] - 1) * (double)(v->dims[1] - 1) * (double)(v->dims[2] - 1);
  return papers_fill(v, samples) ? -1 : 100 * (double)papers_active_cells(v, samples, isovalue) / cells;
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
    const double found = density_at(&small, samples, papers_samples_isovalue(v->content, v->type));
    const double error = found > 0 ? fabs(log(found / wanted)) : INFINITY;
    if (found < 0) break;
    if (error < least) {
      least = error;
      best = scale;
    }
    scale *= found > 0 ? clamped(pow(wanted / found, 4.0 / (5 + n)), 0.5, 2) : 1.3;
  }
  free(samples);
  v->scale = best;
}
