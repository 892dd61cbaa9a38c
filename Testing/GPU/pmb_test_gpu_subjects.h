/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pmb_test_gpu_subjects.h - volumes that several contexts work on, with the meshes they must give. */
#ifndef PMB_TEST_GPU_SUBJECTS_H
#define PMB_TEST_GPU_SUBJECTS_H

#include "pmb_test_gpu_util.h"

static const double ISOVALUE = 0.1;

static inline double gyroid_up(double x, double y, double z)
{
  return gyroid(x, y, z + 0.21);
}

/* Three volumes of one size, of different content, with the CPU's meshes. */
typedef struct subjects {
  test_volume volume[3];
  test_mesh want[3];
} subjects;

static inline void subjects_make(subjects *s, int64_t n)
{
  double (*const functions[])(double, double, double) = { gyroid, gyroid_left, gyroid_up };
  for (int i = 0; i < 3; i++) {
    volume_sampled(&s->volume[i], PMB_FLOAT32, n, functions[i]);
    cpu_mesh(&s->volume[i], ISOVALUE, &s->want[i]);
  }
}

static inline void subjects_free(subjects *s)
{
  for (int i = 0; i < 3; i++) {
    volume_free(&s->volume[i]);
    mesh_free(&s->want[i]);
  }
}

#endif
