/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "complexity.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shared/pmb_cell.h"

enum { MOST_THREADS = 64, SPHERE_RADIUS = 12, SPHERE_PITCH = 32 };

int memory_is_free(double bytes, const char *what)
{
  char line[128];
  unsigned long long kilobytes = 0;
  FILE *file = fopen("/proc/meminfo", "r");
  while (file && fgets(line, sizeof line, file) && sscanf(line, "MemAvailable: %llu", &kilobytes) != 1) {
  }
  if (file) fclose(file);
  if (kilobytes && bytes > 0.9 * 1024 * (double)kilobytes) {
    fprintf(stderr, "pmb_bench_complexity: %s needs %.0f MB of memory and %.0f MB are free; mend: a smaller --max\n",
      what, 1e-6 * bytes, 1e-6 * 1024 * (double)kilobytes);
    return 0;
  }
  return 1;
}

int cube_new(cube *c, int64_t side)
{
  c->side = side;
  c->samples = malloc((size_t)(side * side * side) * sizeof *c->samples);
  return c->samples != NULL;
}

void cube_free(cube *c)
{
  free(c->samples);
  c->samples = NULL;
}

/* ---- slices, side by side ---- */

typedef struct slices {
  void (*work)(void *arg, int64_t k);
  void *arg;
  int64_t first, step, end;
} slices;

static void *slices_main(void *data)
{
  const slices *s = data;
  for (int64_t k = s->first; k < s->end; k += s->step) s->work(s->arg, k);
  return NULL;
}

static void for_slices(int64_t end, void (*work)(void *arg, int64_t k), void *arg)
{
  const long cores = sysconf(_SC_NPROCESSORS_ONLN);
  const int n = cores < 1 ? 1 : cores > MOST_THREADS ? MOST_THREADS : (int)cores;
  pthread_t threads[MOST_THREADS];
  slices told[MOST_THREADS];
  int started[MOST_THREADS];
  for (int t = 0; t < n; t++) {
    told[t] = (slices){ work, arg, t, n, end };
    started[t] = t > 0 && pthread_create(&threads[t], NULL, slices_main, &told[t]) == 0;
  }
  for (int t = 0; t < n; t++)
    if (started[t])
      pthread_join(threads[t], NULL);
    else
      slices_main(&told[t]);
}

/* ---- contents ---- */

typedef struct content {
  cube *c;
  double radius;
  int64_t spheres;
  const float *sine, *cosine;
} content;

static void sphere_slice(void *arg, int64_t k)
{
  const content *f = arg;
  const int64_t n = f->c->side;
  const double middle = 0.5 * (double)(n - 1) + 0.1,
               z = (double)k - middle; /* on no sample, in no plane of symmetry */
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++) {
      const double x = (double)i - middle, y = (double)j - middle;
      f->c->samples[i + n * (j + n * k)] = (float)(f->radius - sqrt(x * x + y * y + z * z));
    }
}

void cube_sphere(cube *c, double radius)
{
  content f = { .c = c, .radius = radius };
  for_slices(c->side, sphere_slice, &f);
  c->samples[0] = SPIKE;
}

static void spheres_slice(void *arg, int64_t k)
{
  const content *f = arg;
  const int64_t n = f->c->side, along = n / SPHERE_PITCH;
  const double middle = 0.5 * (SPHERE_PITCH - 1) + 0.1, z = (double)(k % SPHERE_PITCH) - middle;
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++) {
      const double x = (double)(i % SPHERE_PITCH) - middle, y = (double)(j % SPHERE_PITCH) - middle;
      const int64_t cell = i / SPHERE_PITCH + along * (j / SPHERE_PITCH + along * (k / SPHERE_PITCH));
      const double radius = cell < f->spheres ? SPHERE_RADIUS : -1;
      f->c->samples[i + n * (j + n * k)] = (float)(radius - sqrt(x * x + y * y + z * z));
    }
}

void cube_spheres(cube *c, int64_t count)
{
  content f = { .c = c, .spheres = count };
  for_slices(c->side, spheres_slice, &f);
  c->samples[0] = SPIKE;
}

static void gyroid_slice(void *arg, int64_t k)
{
  const content *f = arg;
  const int64_t n = f->c->side;
  const float *s = f->sine, *c = f->cosine;
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++) f->c->samples[i + n * (j + n * k)] = s[i] * c[j] + s[j] * c[k] + s[k] * c[i];
}

void cube_gyroid(cube *c, int periods)
{
  float *waves = malloc(2 * (size_t)c->side * sizeof *waves);
  content f = { .c = c, .sine = waves, .cosine = waves + c->side };
  if (!waves) abort();
  for (int64_t i = 0; i < c->side; i++) {
    const double angle = 2 * 3.14159265358979323846 * periods * ((double)i + 0.1) / (double)c->side;
    waves[i] = (float)sin(angle);
    waves[c->side + i] = (float)cos(angle);
  }
  for_slices(c->side, gyroid_slice, &f);
  c->samples[0] = SPIKE;
  free(waves);
}

/* ---- counting one by one ---- */

typedef struct tally {
  const cube *c;
  double isovalue;
  pmb_sizes sizes;
  pthread_mutex_t lock;
} tally;

static void tally_slice(void *arg, int64_t k)
{
  tally *t = arg;
  const int64_t n = t->c->side;
  pmb_sizes sizes = { 0, 0 };
  for (int64_t j = 0; j < n; j++)
    for (int64_t i = 0; i < n; i++) {
      const float *s = t->c->samples + i + n * (j + n * k);
      const int inside = (double)s[0] >= t->isovalue;
      sizes.points += i + 1 < n && ((double)s[1] >= t->isovalue) != inside;
      sizes.points += j + 1 < n && ((double)s[n] >= t->isovalue) != inside;
      sizes.points += k + 1 < n && ((double)s[n * n] >= t->isovalue) != inside;
      unsigned cell_case = 0;
      for (int corner = 0; i + 1 < n && j + 1 < n && k + 1 < n && corner < 8; corner++) {
        const double value = s[(corner & 1) + n * (corner >> 1 & 1) + n * n * (corner >> 2)];
        cell_case |= (unsigned)(value >= t->isovalue) << corner;
      }
      sizes.triangles += pmb_triangle_count[cell_case];
    }
  pthread_mutex_lock(&t->lock);
  t->sizes.points += sizes.points;
  t->sizes.triangles += sizes.triangles;
  pthread_mutex_unlock(&t->lock);
}

pmb_sizes cube_count(const cube *c, double isovalue)
{
  tally t = { c, isovalue, { 0, 0 }, PTHREAD_MUTEX_INITIALIZER };
  for_slices(c->side, tally_slice, &t);
  return t.sizes;
}
