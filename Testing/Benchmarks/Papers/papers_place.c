/* SPDX-License-Identifier: BSD-3-Clause */
#define _POSIX_C_SOURCE 200809L
#include "papers_place.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char *host_missing(void)
{
  return NULL;
}

static const char *host_copy(void *to, const void *from, size_t bytes)
{
  memcpy(to, from, bytes);
  return NULL;
}

static const char *host_wait(void)
{
  return NULL;
}

static struct timespec begun;

static void host_begin(void)
{
  clock_gettime(CLOCK_MONOTONIC, &begun);
}

static double host_end(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1e3 * (double)(now.tv_sec - begun.tv_sec) + 1e-6 * (double)(now.tv_nsec - begun.tv_nsec);
}

/* What Linux thinks can be had without swapping. */
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

const papers_place papers_host = { .name = "cpu",
  .missing = host_missing,
  .allocate = malloc,
  .release = free,
  .upload = host_copy,
  .download = host_copy,
  .wait = host_wait,
  .begin = host_begin,
  .end = host_end,
  .available = host_available };

papers_memory papers_memory_of(const papers_place *place)
{
  return (papers_memory){ .allocate = place->allocate, .release = place->release, .limit = SIZE_MAX };
}

/* A copy of `count` elements on this machine; NULL, and *good 0, if that fails. Nothing where there is nothing. */
static void *download(const papers_place *place, const void *data, int64_t count, size_t size, int *good)
{
  if (!data || !*good) return NULL;
  const size_t bytes = (size_t)count * size;
  void *copy = malloc(bytes ? bytes : 1);
  *good = copy && (bytes == 0 || !place->download(copy, data, bytes));
  return copy;
}

int papers_mesh_download(const papers_place *place, const papers_mesh *mesh, papers_mesh *copy)
{
  int good = 1;
  *copy = *mesh;
  copy->positions = download(place, mesh->positions, 3 * mesh->points, sizeof(float), &good);
  copy->normals = download(place, mesh->normals, 3 * mesh->points, sizeof(float), &good);
  copy->ids = download(place, mesh->ids, 3 * mesh->triangles, sizeof(int32_t), &good);
  if (!good) papers_mesh_free(copy);
  return good;
}

void papers_mesh_free(papers_mesh *copy)
{
  free((void *)(uintptr_t)copy->positions);
  free((void *)(uintptr_t)copy->normals);
  free((void *)(uintptr_t)copy->ids);
  memset(copy, 0, sizeof *copy);
}

const char *papers_status_text(papers_status status)
{
  static const char *const texts[] = { "ok", "no memory", "too large", "bad type", "device error" };
  return status >= PAPERS_OK && status <= PAPERS_DEVICE ? texts[status] : "no status";
}
