/* SPDX-License-Identifier: BSD-3-Clause
 *
 * pmb_bench_papers_rays.cu - figures 3, 7, 8, 10 and 12 and table 2 of Wang, Yang, Cao: Cache-Aware Sampling Strategies for
 * Texture-Based Ray Casting on GPU, LDAV 2014: its ways of sampling a 3D texture, written again, beside pmb_cast_rays.
 *
 * usage: pmb_bench_papers_rays [SIDE]; SIDE: of the random volume (1024)
 *
 * Milliseconds, medians. uint8 samples half a voxel apart, parallel rays, no light. Figures: random samples, 512 steps around the
 * middle, no early end. Table 2: rays end when what is behind is hidden; its volumes are stand-ins of the same sizes. A picture by
 * a texture that differs from Standard's by more than 1 in 255 is WRONG and has no time. PMB's differs, because a texture
 * interpolates with 9 bits of fraction: the last column says by how much. Left out: perspective and pre-integration, which the
 * paper has in table 2 and figures 11 and 12, and the picture that is figure 11. For rates of cache hits:
 * ncu --metrics l1tex__t_sector_hit_rate.pct,lts__t_sector_hit_rate.pct pmb_bench_papers_rays */
#include <cuda_runtime.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "pmb.h"
#include "rays/pmb_rays.h"

enum { THREADS = 256, ENTRIES = 256, REPEATS = 11 };
static const float STEP = 0.5f;     /* voxels */
static const float HIDDEN = 0.998f; /* of pmb_cast_rays too */

static void check(cudaError_t error, const char *what)
{
  if (error != cudaSuccess) {
    fprintf(stderr, "pmb_bench_papers_rays: %s: %s\n", what, cudaGetErrorString(error));
    exit(1);
  }
}
#define CHECK(call) check((call), #call)

/* Parallel rays: pixel (x, y), sample s is at corner + x right + y up + s along, in voxels; last: of the volume. */
struct view {
  int width, height, steps;
  float3 corner, right, up, along, last;
};

/* ---- the paper's ways ---- */

static __constant__ float4 colors[ENTRIES];

static __device__ float4 over(float4 front, float4 back)
{
  const float through = 1 - front.w;
  return make_float4(
    front.x + through * back.x, front.y + through * back.y, front.z + through * back.z, front.w + through * back.w);
}

/* Another lane's color: by a shuffle, or (SHARED) through shared memory, as in the paper's SBShared and DBShared. */
template <bool SHARED> static __device__ float4 of_lane(unsigned group, float4 v, int lane, int width)
{
  __shared__ float4 places[SHARED ? THREADS : 1];
  if (!SHARED) {
    return make_float4(__shfl_sync(group, v.x, lane, width), __shfl_sync(group, v.y, lane, width),
      __shfl_sync(group, v.z, lane, width), __shfl_sync(group, v.w, lane, width));
  }
  places[SHARED ? threadIdx.x : 0] = v;
  __syncwarp(group);
  v = places[SHARED ? threadIdx.x / width * width + lane % width : 0];
  __syncwarp(group);
  return v;
}

/* Nothing outside of the volume. */
static __device__ float4 sample(cudaTextureObject_t texture, const float4 *table, const view &v, int x, int y, int s)
{
  const float3 &o = v.corner, &r = v.right, &u = v.up, &a = v.along;
  const float px = o.x + x * r.x + y * u.x + s * a.x, py = o.y + x * r.y + y * u.y + s * a.y,
              pz = o.z + x * r.z + y * u.z + s * a.z;
  const float value = 255 * tex3D<float>(texture, px + 0.5f, py + 0.5f, pz + 0.5f);
  const int i = min((int)value, ENTRIES - 2);
  const float t = value - i;
  const float4 low = table[i], high = table[i + 1];
  return px < 0 || py < 0 || pz < 0 || px > v.last.x || py > v.last.y || pz > v.last.z
    ? make_float4(0, 0, 0, 0)
    : make_float4(low.x + t * (high.x - low.x), low.y + t * (high.y - low.y), low.z + t * (high.z - low.z),
        low.w + t * (high.w - low.w));
}

/* Section 4.2, algorithm 1: a group's colors, front to back, for its first lane. */
template <int DEPTH, bool SHARED> static __device__ float4 reduce(unsigned group, float4 color)
{
  for (int by = 1; by < DEPTH; by *= 2) {
    color = over(color, of_lane<SHARED>(group, color, (threadIdx.x + by) % DEPTH, DEPTH));
  }
  return color;
}

/* DEPTH threads share a ray, ACROSS rays lie side by side in a block: 16 and 1 is Standard, 1 and 32 is 1D warp marching, the
 * others are 3D warp shapes (section 5): ACROSS x 32 / DEPTH / ACROSS x DEPTH. TWO: two buffers (figure 6). */
template <int ACROSS, int DEPTH, bool TWO, bool SHARED, bool EARLY>
static __global__ void __launch_bounds__(THREADS) march(cudaTextureObject_t texture, view v, float4 *picture)
{
  enum { DOWN = THREADS / DEPTH / ACROSS, HALF = DEPTH / 2 };
  __shared__ float4 table[ENTRIES];
  const int ray = threadIdx.x / DEPTH, lane = threadIdx.x % DEPTH;
  const int x = blockIdx.x * ACROSS + ray % ACROSS, y = blockIdx.y * DOWN + ray / ACROSS;
  const unsigned group = (UINT32_MAX >> (32 - DEPTH)) << ((threadIdx.x & 31) - lane);
  for (int i = threadIdx.x; i < ENTRIES; i += THREADS) {
    table[i] = colors[i];
  }
  __syncthreads();
  if (x >= v.width || y >= v.height) {
    return;
  }
  float4 sum = make_float4(0, 0, 0, 0);
  for (int s = lane; s < v.steps; s += DEPTH) {
    float4 color = sample(texture, table, v, x, y, s);
    if (!__any_sync(group, color.w > 0)) {
      continue;
    }
    if (
      TWO) { /* the first half of the lanes merges pairs of what was before, the second half pairs of the new colors */
      const int at = lane % (HALF ? HALF : 1) * 2;
      const float4 before = of_lane<SHARED>(group, sum, at, DEPTH),
                   behind = of_lane<SHARED>(group, sum, at + 1, DEPTH);
      const float4 near = of_lane<SHARED>(group, color, at, DEPTH),
                   far = of_lane<SHARED>(group, color, at + 1, DEPTH);
      sum = lane < HALF ? over(before, behind) : over(near, far);
    } else {
      color = reduce<DEPTH, SHARED>(group, color);
      sum = over(sum, color); /* right in the first lane */
    }
    if (EARLY) {
      float through = 1 - sum.w;
      for (int by = 1; TWO && by < DEPTH; by *= 2) {
        through *= __shfl_xor_sync(group, through, by, DEPTH);
      }
      if (__shfl_sync(group, through, 0, DEPTH) < 1 - HIDDEN) {
        break;
      }
    }
  }
  if (TWO) {
    sum = reduce<DEPTH, SHARED>(group, sum);
  }
  if (lane == 0) {
    picture[(size_t)y * v.width + x] = sum;
  }
}

template <int ACROSS, int DEPTH, bool TWO, bool SHARED, bool EARLY>
static void launch(cudaTextureObject_t texture, const view &v, float4 *d_picture)
{
  const int down = THREADS / DEPTH / ACROSS;
  march<ACROSS, DEPTH, TWO, SHARED, EARLY>
    <<<dim3((v.width + ACROSS - 1) / ACROSS, (v.height + down - 1) / down), THREADS>>>(texture, v, d_picture);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
}

/* The ways, with all steps and with an early end; the first is the standard. */
struct way {
  const char *title;
  void (*all)(cudaTextureObject_t, const view &, float4 *);
  void (*early)(cudaTextureObject_t, const view &, float4 *);
};
#define WAY(title, ...)                                          \
  {                                                              \
    title, launch<__VA_ARGS__, false>, launch<__VA_ARGS__, true> \
  }
static const way ways[] = { WAY("Standard", 16, 1, false, false), WAY("1D, SBShared", 1, 32, false, true),
  WAY("1D, DBShared", 1, 32, true, true), WAY("1D, SBShuffle", 1, 32, false, false),
  WAY("1D, DBShuffle", 1, 32, true, false), WAY("2x2x8, SBShuffle", 2, 8, false, false),
  WAY("2x2x8, DBShuffle", 2, 8, true, false), WAY("4x4x2", 4, 2, false, false), WAY("4x2x4", 4, 4, false, false),
  WAY("2x4x4", 2, 4, false, false), WAY("8x2x2", 8, 2, false, false), WAY("2x8x2", 2, 2, false, false) };
enum { WAYS = sizeof(ways) / sizeof(*ways) };

/* ---- volumes ---- */

static __device__ unsigned char random_byte(size_t i)
{
  unsigned long long x = (i + 1) * 0x9e3779b97f4a7c15ull;
  x = (x ^ x >> 29) * 0xbf58476d1ce4e5b9ull;
  return (unsigned char)(x >> 40);
}

/* Random samples; or, of a stand-in, shells of an ellipsoid with a little noise, and nothing around it. */
static __global__ void fill(unsigned char *to, int3 dims, bool stand_in)
{
  const size_t row = (size_t)blockIdx.x, at = row * dims.x;
  const float y = 2 * (row % dims.y + 0.5f) / dims.y - 1, z = 2 * (row / dims.y + 0.5f) / dims.z - 1;
  for (int i = threadIdx.x; i < dims.x; i += THREADS) {
    const float x = 2 * (i + 0.5f) / dims.x - 1, r = sqrtf(x * x + y * y + z * z);
    const float shell = 120 + 60 * sinf(24 * r) + random_byte(at + i) * 0.08f;
    to[at + i] = stand_in ? (unsigned char)(r < 0.95f ? shell : 0) : random_byte(at + i);
  }
}

struct volume {
  int3 dims;
  unsigned char *d_samples;
  cudaArray_t array;
  cudaTextureObject_t texture;
  pmb_context *context;
};

static void make_texture(volume *v)
{
  const cudaExtent extent = make_cudaExtent(v->dims.x, v->dims.y, v->dims.z);
  const cudaChannelFormatDesc format = cudaCreateChannelDesc<unsigned char>();
  cudaMemcpy3DParms copy = {};
  cudaResourceDesc resource = {};
  cudaTextureDesc how = {};
  CHECK(cudaMalloc3DArray(&v->array, &format, extent));
  copy.srcPtr = make_cudaPitchedPtr(v->d_samples, v->dims.x, v->dims.x, v->dims.y);
  copy.dstArray = v->array;
  copy.extent = extent;
  copy.kind = cudaMemcpyDeviceToDevice;
  CHECK(cudaMemcpy3D(&copy));
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = v->array;
  how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = cudaAddressModeClamp;
  how.filterMode = cudaFilterModeLinear;
  how.readMode = cudaReadModeNormalizedFloat;
  CHECK(cudaCreateTextureObject(&v->texture, &resource, &how, NULL));
}

static void need(pmb_context *context, pmb_status status)
{
  if (status != PMB_OK) {
    fprintf(stderr, "pmb_bench_papers_rays: %s\n", pmb_error(context));
    exit(1);
  }
}

static volume make_volume(int x, int y, int z, bool stand_in)
{
  volume v = { make_int3(x, y, z), NULL, NULL, 0, NULL };
  const pmb_options options = { sizeof(options), PMB_DEVICE_GPU };
  CHECK(cudaMalloc(&v.d_samples, (size_t)x * y * z));
  fill<<<y * z, THREADS>>>(v.d_samples, v.dims, stand_in);
  CHECK(cudaDeviceSynchronize());
  make_texture(&v);
  need(NULL, pmb_create(&options, &v.context));
  pmb_volume bound = { sizeof(bound), v.d_samples, PMB_UINT8, { x, y, z } };
  bound.on_device = 1;
  need(v.context, pmb_bind(v.context, &bound));
  return v;
}

static void free_volume(volume *v)
{
  pmb_destroy(v->context);
  CHECK(cudaDestroyTextureObject(v->texture));
  CHECK(cudaFreeArray(v->array));
  CHECK(cudaFree(v->d_samples));
}

/* Linear from transparent to an opacity per step; `from`: the first value that is not transparent. */
static std::vector<float> make_table(int from, float opacity)
{
  std::vector<float> table(4 * ENTRIES);
  std::vector<float4> multiplied(ENTRIES);
  for (int i = 0; i < ENTRIES; ++i) {
    const float t = i / 255.0f, alpha = i < from ? 0 : opacity * t;
    const float color[4] = { t, 1 - t, 0.5f, alpha };
    std::copy(color, color + 4, &table[4 * i]);
    multiplied[i] = make_float4(color[0] * alpha, color[1] * alpha, color[2] * alpha, alpha);
  }
  CHECK(cudaMemcpyToSymbol(colors, multiplied.data(), ENTRIES * sizeof(float4)));
  return table;
}

/* ---- views ---- */

/* Rays around the middle of the volume; axes of length 1, distances between pixels in voxels. */
static view make_view(const volume &v, const float3 axes[3], int width, int height, float dx, float dy, int steps)
{
  const float3 r = axes[0], u = axes[1], a = axes[2];
  view made = { width, height, steps };
  made.last = make_float3(v.dims.x - 1.0f, v.dims.y - 1.0f, v.dims.z - 1.0f);
  made.right = make_float3(r.x * dx, r.y * dx, r.z * dx);
  made.up = make_float3(u.x * dy, u.y * dy, u.z * dy);
  made.along = make_float3(a.x * STEP, a.y * STEP, a.z * STEP);
  const float x = -dx * (width - 1) / 2, y = -dy * (height - 1) / 2, s = -STEP * steps / 2;
  made.corner = make_float3((v.dims.x - 1) / 2.0f + x * r.x + y * u.x + s * a.x,
    (v.dims.y - 1) / 2.0f + x * r.y + y * u.y + s * a.y, (v.dims.z - 1) / 2.0f + x * r.z + y * u.z + s * a.z);
  return made;
}

static void cast(const volume &v, const view &w, const std::vector<float> &table, float4 *d_picture)
{
  pmb_ray_request request = {};
  const float3 axes[3] = { w.right, w.up, w.along };
  request.struct_size = sizeof(request);
  request.mode = PMB_RAY_COMPOSITE;
  request.width = w.width;
  request.height = w.height;
  const double size[3] = { w.width / 2.0, w.height / 2.0, w.steps / 2.0 };
  for (int n = 0; n < 3; ++n) { /* pixels and steps from the middle, over half of them all */
    const double axis[3] = { axes[n].x, axes[n].y, axes[n].z };
    const double centre[3] = { (v.dims.x - 1) / 2.0, (v.dims.y - 1) / 2.0, (v.dims.z - 1) / 2.0 };
    const double length2 = axis[0] * axis[0] + axis[1] * axis[1] + axis[2] * axis[2];
    for (int i = 0; i < 3; ++i) {
      request.world_to_clip[4 * n + i] = axis[i] / length2 / size[n];
      request.world_to_clip[4 * n + 3] -= centre[i] * axis[i] / length2 / size[n];
    }
  }
  request.world_to_clip[15] = 1;
  request.step = request.table_unit = STEP;
  request.table = table.data();
  request.table_size = ENTRIES;
  request.table_high = 255;
  request.colors = (float *)d_picture;
  request.on_device = 1;
  need(v.context, pmb_cast_rays(v.context, &request));
}

/* ---- measuring ---- */

static float largest_difference(const std::vector<float4> &a, const std::vector<float4> &b)
{
  float most = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    most = fmaxf(most, fmaxf(fabsf(a[i].x - b[i].x), fabsf(a[i].y - b[i].y)));
    most = fmaxf(most, fmaxf(fabsf(a[i].z - b[i].z), fabsf(a[i].w - b[i].w)));
  }
  return most;
}

/* A row of the table: of each way, its time. */
static void measure(const char *name, const volume &v, const view &w, const std::vector<float> &table, bool early)
{
  const size_t pixels = (size_t)w.width * w.height;
  float4 *d_picture;
  std::vector<float4> standard(pixels), picture(pixels);
  CHECK(cudaMalloc(&d_picture, pixels * sizeof(float4)));
  printf("| %s |", name);
  for (int n = 0; n <= WAYS; ++n) { /* the last: PMB */
    const auto draw = [&] {
      n == WAYS ? cast(v, w, table, d_picture) : (early ? ways[n].early : ways[n].all)(v.texture, w, d_picture);
    };
    std::vector<double> times(REPEATS);
    draw();
    for (double &time : times) {
      const auto begin = std::chrono::steady_clock::now();
      draw();
      time = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - begin).count();
    }
    std::sort(times.begin(), times.end());
    CHECK(cudaMemcpy(picture.data(), d_picture, pixels * sizeof(float4), cudaMemcpyDeviceToHost));
    standard = n == 0 ? picture : standard;
    const float difference = largest_difference(picture, standard);
    if (n == WAYS) {
      printf(" %.2f | %.4f |\n", times[REPEATS / 2], difference);
    } else {
      difference <= 1 / 255.0f ? printf(" %.2f |", times[REPEATS / 2]) : printf(" WRONG by %.3f |", difference);
    }
    fflush(stdout);
  }
  CHECK(cudaFree(d_picture));
}

static void print_title(const char *title)
{
  printf("\n%s\n\n| |", title);
  for (const way &w : ways) {
    printf(" %s |", w.title);
  }
  printf(" PMB, from memory | its difference |\n|---|");
  for (int n = 0; n < WAYS + 2; ++n) {
    printf("---|");
  }
  printf("\n");
}

static const float3 FACING_XY[3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
static const float3 FACING_ZY[3] = { { 0, 0, 1 }, { 0, 1, 0 }, { 1, 0, 0 } };

static float3 turned(float3 p, int axis, double degrees)
{
  const float c = (float)cos(degrees * M_PI / 180), s = (float)sin(degrees * M_PI / 180);
  return axis == 0 ? make_float3(p.x, c * p.y - s * p.z, s * p.y + c * p.z)
    : axis == 1    ? make_float3(c * p.x + s * p.z, p.y, c * p.z - s * p.x)
                   : make_float3(c * p.x - s * p.y, s * p.x + c * p.y, p.z);
}

/* Rays of all pixels around the middle, the volume turned about each axis in steps of so many degrees. */
static void rotate(const char *name, const volume &v, int degrees, int pixels, float distance, int steps,
  const std::vector<float> &table, bool early)
{
  char row[64];
  for (int axis = 0; axis < 3; ++axis) {
    for (int angle = degrees; angle < 180; angle += degrees) {
      float3 axes[3];
      for (int i = 0; i < 3; ++i) {
        axes[i] = turned(FACING_XY[i], axis, angle);
      }
      snprintf(row, sizeof(row), "%sabout %c, %d degrees", name, 'X' + axis, angle);
      measure(row, v, make_view(v, axes, pixels, pixels, distance, distance, steps), table, early);
    }
  }
}

static void figures(int side)
{
  const std::vector<float> table = make_table(0, 0.004f);
  volume v = make_volume(side, side, side, false);
  const int pixels = side / 2, steps = side / 2;
  char name[64];
  print_title("Figures 3 and 8: by the distance between rays in voxels");
  for (int n = 0; n < 2; ++n) {
    for (float distance = 0.25f; distance <= 2; distance *= 2) {
      snprintf(name, sizeof(name), "facing %s, %g", n ? "ZY" : "XY", distance);
      measure(
        name, v, make_view(v, n ? FACING_ZY : FACING_XY, pixels, pixels, distance, distance, steps), table, false);
    }
  }
  print_title("Figure 7: facing ZY, 2 voxels between rays, by the number of steps");
  for (int n = 64; n <= 2 * side; n *= 2) {
    snprintf(name, sizeof(name), "%d steps", n);
    measure(name, v, make_view(v, FACING_ZY, pixels, pixels, 2, 2, n), table, false);
  }
  print_title("Figure 10: rotated, 2 voxels between rays");
  rotate("", v, 30, pixels, 2, steps, table, false);
  free_volume(&v);
}

static void stand_in(const char *name, int3 dims, int2 xy, int2 zy)
{
  const std::vector<float> table = make_table(20, 0.02f);
  volume v = make_volume(dims.x, dims.y, dims.z, true);
  char row[64];
  const float d[4] = { (float)dims.x / xy.x, (float)dims.y / xy.y, (float)dims.z / zy.x, (float)dims.y / zy.y };
  snprintf(row, sizeof(row), "%s, facing XY", name);
  measure(row, v, make_view(v, FACING_XY, xy.x, xy.y, d[0], d[1], 2 * dims.z / 32 * 32), table, true);
  snprintf(row, sizeof(row), "%s, facing ZY", name);
  measure(row, v, make_view(v, FACING_ZY, zy.x, zy.y, d[2], d[3], 2 * dims.x / 32 * 32), table, true);
  snprintf(row, sizeof(row), "figure 12: %s, ", name);
  const float length = sqrtf((float)dims.x * dims.x + (float)dims.y * dims.y + (float)dims.z * dims.z);
  rotate(row, v, 45, 1024, length / 1024, 2 * (int)length / 32 * 32, table, true);
  free_volume(&v);
}

int main(int argc, char **argv)
{
  const int side = argc > 1 ? atoi(argv[1]) : 1024;
  cudaDeviceProp device;
  if (side < 64 || side > 1024 || side % 64) {
    fprintf(
      stderr, "usage: pmb_bench_papers_rays [SIDE]; SIDE is %s, but must be a multiple of 64 up to 1024\n", argv[1]);
    return 2;
  }
  CHECK(cudaGetDeviceProperties(&device, 0));
  printf("%s; %d x %d pixels of random uint8 %d^3, %d steps; milliseconds\n", device.name, side / 2, side / 2, side,
    side / 2);
  figures(side);
  if (side == 1024) {
    print_title(
      "Table 2, and figure 12 (rotated, 1024 x 1024 pixels): stand-ins. The paper's frames per second: head 13.93 7.98 8.49, 2.66 10.07 11.12; body 24.42 20.60 "
      "23.42, 4.74 17.72 19.91");
    stand_in("vhf_head (stand-in)", make_int3(2048, 1216, 1203), make_int2(885, 526), make_int2(609, 616));
    stand_in("vhm_body (stand-in)", make_int3(2048, 1024, 1878), make_int2(494, 247), make_int2(1015, 183));
  }
  return 0;
}
