/* SPDX-License-Identifier: BSD-3-Clause
 *
 * PMB as a system like the others, on the CPU: what tests and benchmark have in common is then tried on something known,
 * and it stands in the table where there is no GPU. */
#include <stdlib.h>

#include "papers_list.h"

typedef struct state {
  papers_memory *memory;
  pmb_context *context;
  void *arrays[3]; /* positions, normals, ids */
  size_t capacities[3];
} state;

static void *take(void *memory, size_t bytes)
{
  return papers_take(memory, PAPERS_ACCELERATION, bytes);
}

static void give(void *memory, void *block)
{
  papers_give(memory, block);
}

static papers_status status_of(pmb_status status)
{
  return status == PMB_OK         ? PAPERS_OK
    : status == PMB_TOO_LARGE     ? PAPERS_TOO_LARGE
    : status == PMB_OUT_OF_MEMORY ? PAPERS_NO_MEMORY
                                  : PAPERS_DEVICE;
}

static void destroy(void *data)
{
  state *s = data;
  if (!s) return;
  pmb_destroy(s->context);
  for (int i = 0; i < 3; i++) papers_give(s->memory, s->arrays[i]);
  free(s);
}

static papers_status create(papers_memory *memory, const papers_volume *volume, void **data)
{
  const pmb_type type = volume->type;
  *data = NULL;
  if (type != PMB_UINT8 && type != PMB_INT16 && type != PMB_UINT16 && type != PMB_FLOAT32) return PAPERS_BAD_TYPE;
  state *s = calloc(1, sizeof *s);
  if (!s) return PAPERS_NO_MEMORY;
  s->memory = memory;
  const pmb_options options = {
    .struct_size = sizeof options, .device = PMB_DEVICE_CPU, .allocator = { take, give, memory }
  };
  const pmb_volume bound = { .struct_size = sizeof bound,
    .samples = volume->samples,
    .type = type,
    .dims = { volume->dims[0], volume->dims[1], volume->dims[2] } };
  pmb_status status = pmb_create(&options, &s->context);
  if (status == PMB_OK) status = pmb_bind(s->context, &bound);
  if (status == PMB_OK)
    *data = s;
  else
    destroy(s);
  return status_of(status);
}

static papers_status extract(void *data, double isovalue, papers_mesh *mesh)
{
  state *s = data;
  const pmb_request request = { sizeof request, &isovalue, 1, 0 };
  pmb_sizes sizes;
  pmb_status status = pmb_count(s->context, &request, &sizes, NULL);
  if (status != PMB_OK) return status_of(status);
  const int64_t counts[3] = { sizes.points, sizes.points, sizes.triangles };
  for (int i = 0; i < 3; i++) {
    const size_t bytes = (size_t)counts[i] * 12;
    const papers_status made = papers_reserve(s->memory, PAPERS_OUTPUT, &s->arrays[i], &s->capacities[i], bytes);
    if (made != PAPERS_OK) return made;
  }
  const pmb_mesh out = { .struct_size = sizeof out,
    .point_capacity = sizes.points,
    .triangle_capacity = sizes.triangles,
    .points = s->arrays[0],
    .normals = s->arrays[1],
    .triangles = s->arrays[2],
    .point_type = PMB_FLOAT32,
    .id_type = PMB_INT32 };
  status = pmb_emit(s->context, &out);
  *mesh = (papers_mesh){ sizes.points, sizes.triangles, s->arrays[0], s->arrays[1], s->arrays[2] };
  return status_of(status);
}

const papers_system papers_pmb_cpu = { "pmb", "this library, without joining points on samples", create, extract,
  destroy };
