/* SPDX-License-Identifier: BSD-3-Clause
 * Pass vertices of one brick, for samples handled as PMB_REAL, float or double; PMB_REAL_NAME(name) is a name of its own.
 * Points are worked on in blocks of 16, each step a loop over arrays of 16. */

#define point_block PMB_REAL_NAME(point_block)

/* A block of points. */
typedef struct point_block {
  _Alignas(64) uint16_t lower[16], upper[16]; /* ends */
  int32_t kind[16];                           /* PMB_EDGE_X ... */
  PMB_REAL from[4][16], to[4][16];            /* the ends: index gradient and sample */
  PMB_REAL t[16];
  double index[3][16];
  float normal[3][16], gradient[3][16];
} point_block;

/* List entries to ends, parameters and index coordinates. */
static inline void PMB_REAL_NAME(place_points)(
  const pmb_cpu_surface *surface, const box *b, const PMB_REAL (*ends)[4], const uint16_t *list, point_block *p)
{
  const int wide = sizeof(PMB_REAL) == sizeof(double);
  const PMB_REAL value = (PMB_REAL)(wide ? surface->isovalue->value : surface->isovalue->f32);
  const PMB_REAL low = wide ? 0 : surface->isovalue->f32_low;
  const int64_t *first = surface->frame->first;
  /* Sums of whole numbers below 2^53 in magnitude are exact. */
  const double origin[3] = { (double)(b->origin[0] + first[0]), (double)(b->origin[1] + first[1]),
    (double)(b->origin[2] + first[2]) };
  /* In 16 bits: twice as many fit into a vector. */
  PMB_EACH_LANE (l) {
    const uint16_t entry = list[l], y = entry >> 7 & 3, z = (uint16_t)(entry >> 9), kind = entry >> 5 & 3;
    const uint16_t step_y = kind == PMB_EDGE_Y ? PMB_ENDS_PITCH : 0,
                   step_z = kind == PMB_EDGE_Z ? 5 * PMB_ENDS_PITCH : 0;
    const uint16_t lower = (uint16_t)((entry & 31) + y * PMB_ENDS_PITCH + z * (5 * PMB_ENDS_PITCH));
    p->lower[l] = lower;
    p->upper[l] = (uint16_t)(lower + (kind == PMB_EDGE_X) + step_y + step_z);
  }
  PMB_EACH_LANE (l) {
    p->kind[l] = list[l] >> 5 & 3;
  }
  PMB_REAL_NAME(lanes_fetch)(ends, p->lower, p->from);
  PMB_REAL_NAME(lanes_fetch)(ends, p->upper, p->to);
  PMB_EACH_LANE (l) {
    p->t[l] = PMB_REAL_NAME(pmb_edge_parameter)(p->from[3][l], p->to[3][l], value, low);
  }
  for (int a = 0; a < 3; ++a) {
    static const int shift[3] = { 0, 7, 9 }, mask[3] = { 31, 3, 3 };
    PMB_REAL along[16];
    PMB_EACH_LANE (l) {
      along[l] = p->kind[l] == a ? p->t[l] : 0;
    }
    PMB_EACH_LANE (l) {
      p->index[a][l] = (origin[a] + (double)(list[l] >> shift[a] & mask[a])) + (double)along[l];
    }
  }
}

/* Gradient and normal of a point whose squared length is out of range; rare. */
static __attribute__((noinline)) void PMB_REAL_NAME(orient_carefully)(
  const pmb_cpu_surface *surface, const rows_view *v, int l, point_block *p)
{
  PMB_REAL g[3];
  float gradient[3], normal[3];
  for (int a = 0; a < 3; ++a) {
    g[a] = PMB_REAL_NAME(pmb_lerp)(p->from[a][l], p->to[a][l], p->t[l]);
  }
  if (!PMB_REAL_NAME(pmb_scaled_point)(surface->frame, g, gradient, normal)) {
    const pmb_stencil lower = by_type[v->type].stencil(v, p->lower[l]);
    const pmb_stencil upper = by_type[v->type].stencil(v, p->upper[l]);
    pmb_careful_point(surface->frame, &lower, &upper, p->kind[l], (double)p->t[l], gradient, normal);
  }
  for (int r = 0; r < 3; ++r) {
    p->gradient[r][l] = gradient[r];
    p->normal[r][l] = normal[r];
  }
}

/* Gradients and normals of the first n points of a block. */
static inline void PMB_REAL_NAME(orient_points)(
  const pmb_cpu_surface *surface, const rows_view *v, int n, point_block *p)
{
  PMB_REAL matrix[9], w[3][16], factor[16];
  int32_t good[16], all_good = 1;
  memcpy(matrix, surface->frame->PMB_REAL_NAME(matrix), sizeof(matrix));
  PMB_EACH_LANE (l) {
    const PMB_REAL gx = PMB_REAL_NAME(pmb_lerp)(p->from[0][l], p->to[0][l], p->t[l]);
    const PMB_REAL gy = PMB_REAL_NAME(pmb_lerp)(p->from[1][l], p->to[1][l], p->t[l]);
    const PMB_REAL gz = PMB_REAL_NAME(pmb_lerp)(p->from[2][l], p->to[2][l], p->t[l]);
    w[0][l] = PMB_REAL_NAME(pmb_world_gradient)(matrix, 0, gx, gy, gz);
    w[1][l] = PMB_REAL_NAME(pmb_world_gradient)(matrix, 1, gx, gy, gz);
    w[2][l] = PMB_REAL_NAME(pmb_world_gradient)(matrix, 2, gx, gy, gz);
  }
  PMB_EACH_LANE (l) {
    const PMB_REAL length2 = PMB_REAL_NAME(pmb_length2)(w[0][l], w[1][l], w[2][l]);
    good[l] = PMB_REAL_NAME(pmb_length2_good)(length2);
    factor[l] = PMB_REAL_NAME(pmb_normal_factor)(length2);
  }
  PMB_EACH_LANE (l) {
    all_good &= good[l];
  }
  PMB_EACH_LANE (l) {
    p->normal[0][l] = (float)(w[0][l] * factor[l]);
    p->normal[1][l] = (float)(w[1][l] * factor[l]);
    p->normal[2][l] = (float)(w[2][l] * factor[l]);
  }
  if (surface->mesh->gradients) {
    for (int r = 0; r < 3; ++r) {
      for (int l = 0; l < 16; ++l) {
        p->gradient[r][l] = pmb_physical_gradient(surface->frame, (double)w[r][l], surface->frame->range_scale);
      }
    }
  }
  PMB_NOT_UNROLLED
  for (int l = 0; l < n && !all_good; ++l) {
    if (!good[l]) {
      PMB_REAL_NAME(orient_carefully)(surface, v, l, p);
    }
  }
}

/* Writes three arrays of a block to the output, from element 3 * first on. */
static inline void PMB_REAL_NAME(store_f32)(float (*from)[16], float *out, int n, int64_t first)
{
  prefetch_output(out + 3 * first, 48 * (int)sizeof(float));
  if (n == 16) {
    lanes_store3_f32(from, out + 3 * first);
  } else {
    float last[48];
    lanes_store3_f32(from, last);
    memcpy(out + 3 * first, last, (size_t)n * 3 * sizeof(float));
  }
}

/* Writes the world coordinates of a block. */
static inline void PMB_REAL_NAME(store_points)(
  const pmb_cpu_surface *surface, const point_block *p, int n, int64_t first)
{
  const pmb_frame *frame = surface->frame;
  if (surface->mesh->point_type == PMB_FLOAT32) {
    float out[3][16];
    if (frame->diagonal) {
      for (int r = 0; r < 3; ++r) {
        const double spacing = frame->to_world[5 * r], shift = frame->to_world[4 * r + 3];
        PMB_EACH_LANE (l) {
          out[r][l] = (float)pmb_world_diagonal(spacing, shift, p->index[r][l]);
        }
      }
    } else {
      for (int r = 0; r < 3; ++r) {
        for (int l = 0; l < 16; ++l) {
          out[r][l] = (float)pmb_world(frame, r, p->index[0][l], p->index[1][l], p->index[2][l]);
        }
      }
    }
    PMB_REAL_NAME(store_f32)(out, surface->mesh->points, n, first);
  } else {
    double out[3][16], whole[48];
    for (int r = 0; r < 3; ++r) {
      for (int l = 0; l < 16; ++l) {
        out[r][l] = pmb_world(frame, r, p->index[0][l], p->index[1][l], p->index[2][l]);
      }
    }
    lanes_store3_f64(out, whole);
    memcpy((double *)surface->mesh->points + 3 * first, whole, (size_t)n * 3 * sizeof(double));
  }
}

/* Writes the first n points of a block to the arrays of the mesh. */
static inline void PMB_REAL_NAME(emit_block)(const pmb_cpu_surface *surface, const pmb_cpu_record *record,
  const rows_view *v, const uint16_t *list, point_block *p, int n, int64_t first)
{
  const pmb_mesh *mesh = surface->mesh;
  if (mesh->points) {
    PMB_REAL_NAME(store_points)(surface, p, n, first);
  }
  if (mesh->normals || mesh->gradients) {
    PMB_REAL_NAME(orient_points)(surface, v, n, p);
  }
  if (mesh->normals) {
    PMB_REAL_NAME(store_f32)(p->normal, mesh->normals, n, first);
  }
  if (mesh->gradients) {
    PMB_REAL_NAME(store_f32)(p->gradient, mesh->gradients, n, first);
  }
  if (mesh->attribute_count) {
    double parameter[16];
    for (int l = 0; l < 16; ++l) {
      parameter[l] = pmb_edge_parameter_f64((double)p->from[3][l], (double)p->to[3][l], surface->isovalue->value, 0);
    }
    pmb_cpu_interpolate_attributes(surface, record, list, parameter, n, first);
  }
}

/* Pass vertices, one brick, from its ends. */
static __attribute__((noinline)) void PMB_REAL_NAME(emit_points)(const pmb_cpu_surface *surface,
  pmb_cpu_scratch *scratch, const pmb_cpu_record *record, const box *b, const rows_view *view, int64_t first)
{
  const PMB_REAL(*ends)[4] = (const PMB_REAL(*)[4])(const void *)scratch->ends;
  const int n = list_points(surface, record, scratch->list);
  for (int i = 0; i < n; i += 16) {
    point_block p;
    PMB_REAL_NAME(place_points)(surface, b, ends, scratch->list + i, &p);
    PMB_REAL_NAME(emit_block)(surface, record, view, scratch->list + i, &p, n - i < 16 ? n - i : 16, first + i);
  }
}

#undef point_block
#undef PMB_REAL
#undef PMB_REAL_NAME
