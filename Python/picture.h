/* SPDX-License-Identifier: BSD-3-Clause
 * Pictures as bytes, from the core's colors (pmb_rays.h). */
#ifndef PMB_PYTHON_PICTURE_H
#define PMB_PYTHON_PICTURE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __CUDACC__
#define PMB_ON_BOTH __host__ __device__
extern "C"
{
#else
#define PMB_ON_BOTH
#endif

  /* The first row of `pixels` is the upper one, that of `colors` the lowest. */
  typedef struct pmb_picture
  {
    const float* colors; /* 4 per pixel: red, green, blue times opacity, and opacity */
    uint8_t* pixels;     /* 3 per pixel on a background; else 4 */
    int64_t width, height;
    float background[3];
    int has_background; /* 0: the fourth byte of a pixel is its opacity */
  } pmb_picture;

  static PMB_ON_BOTH inline uint8_t pmb_byte(float value)
  {
    const float above = value > 0 ? value : 0; /* of NaN 0 */
    return (uint8_t)(int32_t)((above < 1 ? above : 1) * 255 + 0.5f);
  }

  /* row: counted from the upper one. */
  static PMB_ON_BOTH inline void pmb_finish_pixel(const pmb_picture* picture, int64_t row, int64_t column)
  {
    const float* color = picture->colors + 4 * ((picture->height - 1 - row) * picture->width + column);
    uint8_t* to = picture->pixels + (picture->has_background ? 3 : 4) * (row * picture->width + column);
    const float opacity = color[3], scale = 1 / (opacity > 1e-6f ? opacity : 1e-6f);
    for (int i = 0; i < 3; ++i)
    {
      to[i] =
        pmb_byte(picture->has_background ? color[i] + (1 - opacity) * picture->background[i] : color[i] * scale);
    }
    if (!picture->has_background)
    {
      to[3] = pmb_byte(opacity);
    }
  }

  /* With both arrays in memory of the current GPU: in the legacy default stream; returns when it is done. Returns a
 * cudaError_t. */
  int pmb_finish_on_gpu(const pmb_picture* picture);

#ifdef __CUDACC__
}
#endif

#endif
