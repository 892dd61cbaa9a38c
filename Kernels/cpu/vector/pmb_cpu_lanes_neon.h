/* SPDX-License-Identifier: BSD-3-Clause
 * The moves of floats of pmb_cpu_lanes.h by NEON, which all of Arm's 64-bit processors have. */
#ifndef PMB_CPU_LANES_NEON_H
#define PMB_CPU_LANES_NEON_H

#include "cpu/pmb_cpu_brick.h"

#if defined(__aarch64__)
#include <arm_neon.h>

PMB_INLINE void lanes_interleave_f32(const float (*from)[16], float (*records)[4])
{
  for (int l = 0; l < 16; l += 4) {
    const float32x4x4_t four = { { vld1q_f32(from[0] + l), vld1q_f32(from[1] + l), vld1q_f32(from[2] + l),
      vld1q_f32(from[3] + l) } };
    vst4q_f32(records[l], four);
  }
}

PMB_INLINE void lanes_store3_f32(float (*from)[16], float *out)
{
  for (int l = 0; l < 16; l += 4) {
    const float32x4x3_t three = { { vld1q_f32(from[0] + l), vld1q_f32(from[1] + l), vld1q_f32(from[2] + l) } };
    vst3q_f32(out + 3 * l, three);
  }
}

PMB_INLINE void lanes_fetch_f32(const float (*records)[4], const uint16_t *index, float (*to)[16])
{
  for (int l = 0; l < 16; l += 4) {
    const float32x4_t a = vld1q_f32(records[index[l]]), b = vld1q_f32(records[index[l + 1]]);
    const float32x4_t c = vld1q_f32(records[index[l + 2]]), d = vld1q_f32(records[index[l + 3]]);
    const float32x4_t ac[2] = { vzip1q_f32(a, c), vzip2q_f32(a, c) }, bd[2] = { vzip1q_f32(b, d), vzip2q_f32(b, d) };
    for (int i = 0; i < 4; i += 2) {
      vst1q_f32(to[i] + l, vzip1q_f32(ac[i / 2], bd[i / 2]));
      vst1q_f32(to[i + 1] + l, vzip2q_f32(ac[i / 2], bd[i / 2]));
    }
  }
}

#endif
#endif
