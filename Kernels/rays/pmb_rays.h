/* SPDX-License-Identifier: BSD-3-Clause
 * Pictures of a volume by rays, without a mesh: isosurfaces, and colors of the samples themselves.
 *
 * A context with a bound volume (pmb.h) casts a ray through the center of each pixel. Rays skip bricks that show nothing, by the
 * volume's summary. Pictures of CPU and GPU differ by at most 1 of 255.
 *
 *     pmb_ray_request request = { .struct_size = sizeof request, .width = 800, .height = 600, .colors = pixels, ... };
 *     pmb_cast_rays(context, &request);
 *
 * Sources: Wang, Yang, Cao: Cache-aware sampling strategies for texture-based ray casting on GPU, LDAV 2014, sections 3.2 and 5
 * (on a GPU one thread per ray; in mode composite four, which look at successive samples). Engel, Kraus, Ertl: High-quality
 * pre-integrated volume rendering using hardware-accelerated pixel shading, Graphics Hardware 2001, section 3 (preintegrate). */
#ifndef PMB_RAYS_H
#define PMB_RAYS_H

#include "pmb.h"

#ifdef __cplusplus
extern "C" {
#endif

/* What a pixel shows. Values are interpolated trilinearly between the samples of a cell. Cells with a sample that is hidden or not
 * finite have none. */
typedef enum pmb_ray_mode {
  PMB_RAY_ISOSURFACE = 0, /* the surfaces of the isovalues, front to back */
  PMB_RAY_COMPOSITE = 1,  /* colors of values, front to back */
  PMB_RAY_MAXIMUM = 2,    /* the color of the greatest value on the ray */
  PMB_RAY_MINIMUM = 3,    /* of the least value */
  PMB_RAY_AVERAGE = 4     /* of the mean value */
} pmb_ray_mode;

enum { PMB_RAY_ISOVALUES = 16, PMB_RAY_LIGHTS = 16, PMB_RAY_PLANES = 8, PMB_RAY_TABLE = 4096 }; /* at most */
enum { PMB_RAY_PIXEL_SAMPLES = 16 };                                                            /* at most */

typedef struct pmb_ray_isovalue {
  double value;   /* finite */
  float color[4]; /* red, green, blue, opacity; 0 to 1 */
} pmb_ray_isovalue;

/* A light, as VTK lights a mesh. Cone and attenuation are those of a light at a place. */
typedef struct pmb_ray_light {
  double position[4]; /* homogeneous coordinates: last 1 for a place, 0 for a direction toward the light */
  float color[3];
  float direction[3];   /* the cone's axis, away from the light, of any length above 0 */
  float cone_cosine;    /* cosine of the cone's half angle; there is no light outside; 0: no cone */
  float exponent;       /* inside the cone: of the cosine of the angle to the axis, which dims the light */
  float attenuation[3]; /* a0, a1, a2: dims the light by 1 / (a0 + a1 d + a2 d^2) at distance d; all 0: not at all */
} pmb_ray_light;

typedef struct pmb_ray_request {
  size_t struct_size;
  pmb_ray_mode mode;
  int width, height; /* pixels, >= 1 */
  /* 2 to 16: that many rays more where neighbouring pixels differ, against jagged edges; 0 or 1: one ray per pixel. */
  int pixel_samples;
  /* From the world to OpenGL's clip space, row-major 4 x 4: projection times view, perspective or parallel. */
  double world_to_clip[16];
  /* World length between samples of a ray, counted from the near plane. 0: half the shortest edge of a cell, or more if rays would
   * get too many samples. A ray must have less than 2^20 samples in the volume. */
  double step;
  int jitter; /* 1: shifts the samples of each pixel by a fraction of a step, against rings with long steps */

  const pmb_ray_isovalue *isovalues; /* mode isosurface */
  int isovalue_count;
  /* Mode isosurface: another array, of one component. Its values color the surfaces by the table below; where one is not finite,
   * the isovalue's color stays. Opacity is the isovalue's. NULL: the isovalues' colors. Its output is ignored. */
  const pmb_attribute *color_by;

  /* The other modes, and color_by: colors of values, evenly spaced from table_low to table_high and interpolated; 4 numbers each as
   * in an isovalue's color. In mode composite an opacity is that of a world length of table_unit (> 0). */
  const float *table;
  int table_size; /* >= 2 */
  double table_low, table_high, table_unit;

  /* Mode composite: factors of the opacity, 0 to 1, by the length of the world gradient: evenly spaced from 0 to gradient_high
   * (> 0) and interpolated. NULL: 1. */
  const float *gradient_table;
  int gradient_size; /* >= 2 */
  double gradient_high;

  /* Mode composite: 1: a color per segment between two neighbouring samples, so that no peak of the table is missed between them.
   * 0: a color per sample. A segment has the mean extinction -log(1 - opacity) of all values between its samples' (as if the value
   * changed linearly along it), and their mean color weighted by extinction. Its light and gradient factor are those of its far
   * sample. The means come from integrals of the table, as in Engel, Kraus, Ertl, with these errors: the value is not linear in a
   * cell; the near part of a segment does not dim its far part; extinctions are constant in 1/4096 of the table or less; an opacity
   * of 1 counts as an extinction of 1024. */
  int preintegrate;

  /* Lighting of surfaces, and of composite colors if shade != 0: ambient + diffuse + specular to the power specular_power, on both
   * sides. Without lights one is at the camera. Normals are those of pmb_emit with PMB_CENTRAL. Lit colors are at most 1: those of
   * surfaces after the opacity, others before. Samples whose gradient is 0 have ambient light. */
  int shade;
  float ambient, diffuse, specular, specular_power;
  const pmb_ray_light *lights;
  int light_count;
  /* From the volume's world to the space of the lights, an affine map, row-major 3 x 4; all 0: the identity. The volume is lit as
   * the mesh of its surface is after this map: normals go by the inverse transpose. Lengths stay in the volume's world. */
  double placement[12];

  /* Clipping of the rays. */
  double box[6]; /* in indices of this volume's own samples: least x, greatest x, then y and z; all 0: the volume */
  const double *planes; /* 4 numbers each, in the world: keeps the rays where a x + b y + c z + d >= 0 */
  int plane_count;
  /* Per pixel: OpenGL's depth 0 to 1 at which the ray ends; NULL: the far plane; and begins; NULL: the near plane. Pictures of
   * intervals of the rays that adjoin each other, composited front to back, are the picture of whole rays. */
  const float *depth_limit, *depth_start;

  /* The caller's arrays, row by row from the lowest. */
  float *colors; /* 4 per pixel: red, green, blue times opacity, and opacity */
  /* OpenGL's depth of the first surface, even if transparent; 1 if none. With pixel_samples that of the ray through the pixel's middle
   * or, where this one meets no surface, of the nearest one that others meet. NULL: not wanted. */
  float *depth;
  int
    on_device; /* 1: colors (aligned to 16 bytes), depth, depth_limit and depth_start are memory of the context's GPU */
} pmb_ray_request;

/* Casts a ray per pixel and fills the arrays. Not thread-safe for one context. PMB_INVALID if no volume is bound or the request is
 * invalid, PMB_ABORTED if the progress hook stops it, PMB_OUT_OF_MEMORY. After an error the arrays' contents are undefined. */
PMB_API pmb_status pmb_cast_rays(pmb_context *context, const pmb_ray_request *request);

/* The same with OpenGL buffers. Register them with pmb_register_gl in place of a mesh's: colors for points, depth for normals,
 * depth limits for triangles, followed in the same buffer by the depths where rays begin. Ignores these members of the request, but
 * depth_limit = NULL still means no limits, and depth_start = NULL no starts. Fails as pmb_cast_rays and pmb_emit_gl do. */
PMB_API pmb_status pmb_cast_rays_gl(pmb_context *context, pmb_gl_buffers *buffers, const pmb_ray_request *request);

#ifdef __cplusplus
}
#endif

#endif
