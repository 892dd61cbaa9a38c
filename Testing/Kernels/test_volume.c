/* SPDX-License-Identifier: BSD-3-Clause
 *
 * test_volume.c - test volumes: all types, layouts and transforms. */
#include <float.h>
#include <math.h>

#include "test_util.h"

const char *type_name(pmb_type type)
{
  static const char *const names[] = { "?", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64",
    "float32", "float64" };
  return type >= PMB_INT8 && type <= PMB_FLOAT64 ? names[type] : names[0];
}

/* Strides of a layout. LAYOUT_NEGATIVE reverses the axes, LAYOUT_CONSTANT has a stride of 0 along y. */
static void layout_strides(const int64_t dims[3], int layout, int64_t s[3])
{
  int64_t row = dims[0] + (layout == LAYOUT_PADDED ? 5 : 0), width = layout == LAYOUT_INTERLEAVED ? 3 : 1;
  s[0] = width;
  s[1] = width * row;
  s[2] = width * row * (dims[1] + (layout == LAYOUT_PADDED ? 1 : 0));
  if (layout == LAYOUT_NEGATIVE)
    for (int a = 0; a < 3; a++) s[a] = -s[a];
  if (layout == LAYOUT_SWAPPED) {
    s[2] = 1;
    s[1] = -dims[2];
    s[0] = dims[2] * dims[1];
  }
  if (layout == LAYOUT_CONSTANT) {
    s[1] = 0;
    s[2] = dims[0];
  }
}

void volume_make(test_volume *v, pmb_type type, int64_t nx, int64_t ny, int64_t nz, int layout)
{
  int64_t low = 0, high = 0, size = (int64_t)pmb_type_size(type);
  memset(v, 0, sizeof *v);
  v->view.struct_size = sizeof v->view;
  v->view.type = type;
  v->view.dims[0] = nx;
  v->view.dims[1] = ny;
  v->view.dims[2] = nz;
  layout_strides(v->view.dims, layout, v->view.strides);
  for (int a = 0; a < 3; a++) {
    int64_t reach = v->view.strides[a] * (v->view.dims[a] - 1);
    if (reach < 0) low += reach;
    if (reach > 0) high += reach;
  }
  v->memory = test_allocate(high - low + 1, (size_t)size);
  /* Memory between the samples must not matter. These bytes are large numbers, also as floats. */
  memset(v->memory, 0x7e, (size_t)((high - low + 1) * size));
  v->view.samples = (char *)v->memory - low * size;
  if (layout == LAYOUT_PACKED) memset(v->view.strides, 0, sizeof v->view.strides);
}

test_volume volume_of(pmb_type type, int64_t nx, int64_t ny, int64_t nz, int layout)
{
  test_volume v;
  volume_make(&v, type, nx, ny, nz, layout);
  return v;
}

void volume_free(test_volume *v)
{
  free(v->memory);
  free(v->sample_flags);
  free(v->cell_flags);
  memset(v, 0, sizeof *v);
}

/* Least and greatest value of a type, as doubles that convert back without overflow. */
static void type_range(pmb_type type, double *low, double *high)
{
  static const double lows[] = { 0, -128, 0, -32768, 0, -2147483648.0, 0, -9223372036854775808.0, 0, -FLT_MAX,
    -DBL_MAX };
  static const double highs[] = { 0, 127, 255, 32767, 65535, 2147483647.0, 4294967295.0, 9223372036854774784.0,
    18446744073709549568.0, FLT_MAX, DBL_MAX };
  *low = lows[type];
  *high = highs[type];
}

void volume_set(const test_volume *v, int64_t i, int64_t j, int64_t k, double value)
{
  void *p = (void *)(uintptr_t)ref_address(&v->view, i, j, k);
  double low, high;
  type_range(v->view.type, &low, &high);
  if (v->view.type < PMB_FLOAT32) value = rint(value < low ? low : value > high ? high : value);
#define STORE(name, c_type)       \
  case name:                      \
    *(c_type *)p = (c_type)value; \
    break;
  switch (v->view.type) {
    REF_EACH_TYPE(STORE)
  }
}

void volume_put(const test_volume *v, int64_t n, double value)
{
  const int64_t *d = v->view.dims;
  volume_set(v, n % d[0], n / d[0] % d[1], n / (d[0] * d[1]), value);
}

double volume_get(const test_volume *v, int64_t n)
{
  const int64_t *d = v->view.dims;
  return ref_sample(&v->view, n % d[0], n / d[0] % d[1], n / (d[0] * d[1]));
}

/* Values at the limits of each type and around 0; with 64 bits also some that are equal as doubles. */
static void set_limit(const test_volume *v, int64_t i, int64_t j, int64_t k, uint64_t pick)
{
  static const double reals[] = { -1, -0.0, 0, 1, 2, 1e-3 };
  void *p = (void *)(uintptr_t)ref_address(&v->view, i, j, k);
  pmb_type type = v->view.type;
  int sign = pick & 1 ? 1 : -1;
  double low, high;
  uint64_t n = (pick >> 1) % 3, big = (uint64_t)1 << 60;
  type_range(type, &low, &high);
  pick >>= 4;
  if (type == PMB_INT64) {
    const int64_t values[] = { INT64_MIN, INT64_MIN + 1, INT64_MAX, INT64_MAX - 1, -1, 0, 1, (int64_t)(big + n - 1) };
    *(int64_t *)p = values[pick % 8];
  } else if (type == PMB_UINT64) {
    const uint64_t values[] = { UINT64_MAX, UINT64_MAX - 1, 0, 1, (uint64_t)INT64_MAX, (uint64_t)INT64_MAX + 1,
      big + n - 1, 2 * big - n };
    *(uint64_t *)p = values[pick % 8];
  } else if (type == PMB_FLOAT32) {
    const float values[] = { FLT_MAX, FLT_MIN, FLT_TRUE_MIN, FLT_MAX / 2 };
    *(float *)p = pick % 2 ? (float)reals[pick / 2 % 6] : (float)sign * values[pick / 2 % 4];
  } else if (type == PMB_FLOAT64) {
    const double values[] = { DBL_MAX, DBL_MIN, DBL_TRUE_MIN, DBL_MAX / 2 };
    *(double *)p = pick % 2 ? reals[pick / 2 % 6] : sign * values[pick / 2 % 4];
  } else {
    const double values[] = { low, low + 1, high, high - 1, 0, 1, -1, 2 };
    volume_set(v, i, j, k, values[pick % 8]);
  }
}

void volume_wide(test_volume *v, int n, int run, const int64_t dims[3], test_rng *rng, double *isovalues)
{
  /* Samples first + step * (0 to 8), modulo 2^64: a list that reaches the upper end continues at the lower end. */
  static const struct {
    pmb_type type;
    uint64_t first, step;
    double isovalues[WIDE_ISOVALUES];
  } all[WIDE_VOLUMES] = {
    { PMB_INT64, 9200000000000000000u - 4, 1, { 9.2e18, 9.2e18 - 1024, 9.2e18 + 1024 } },
    { PMB_INT64, INT64_MAX - 2400, 300, { 0x1p63 - 1024, 0x1p63 - 2048, 9.2e18 } },
    { PMB_INT64, INT64_MAX - 3, 1, { 0x1p63 - 1024, -0x1p63 + 1024, 0.5 } },
    { PMB_INT64, INT64_MAX - 1000, 250, { 0x1p63 - 1024, 9.2e18, 0 } },
    { PMB_INT64, (uint64_t)INT64_MIN, 300, { -0x1p63 + 1024, -0x1p63 + 2048, -0x1p63 } },
    { PMB_INT64, (uint64_t)-9200000000000000000 - 4, 1, { -9.2e18, -9.2e18 - 1024, -9.2e18 + 1024 } },
    { PMB_INT64, ((uint64_t)1 << 53) - 3, 1, { 0x1p53, 0x1p53 - 1, 0x1p53 + 2 } },
    { PMB_UINT64, 9200000000000000000u - 4, 1, { 9.2e18, 9.2e18 - 1024, 9.2e18 + 1024 } },
    { PMB_UINT64, UINT64_MAX - 5600, 700, { 0x1p64 - 2048, 0x1p64 - 4096, 1.8e19 } },
    { PMB_UINT64, UINT64_MAX - 3, 1, { 0x1p64 - 2048, 9.2e18, 1 } },
    { PMB_UINT64, UINT64_MAX - 2000, 500, { 0x1p64 - 2048, 0x1p63, 1500 } },
    { PMB_UINT64, ((uint64_t)1 << 63) - 2000, 500, { 0x1p63, 0x1p63 - 1024, 0x1p63 + 2048 } },
  };
  uint64_t value = all[n].first;
  volume_make(v, all[n].type, dims[0], dims[1], dims[2], LAYOUT_PACKED);
  for (int64_t i = 0; i < ref_samples(&v->view); i++) {
    if (rng_int(rng, 1, run) == 1) value = all[n].first + all[n].step * (uint64_t)rng_int(rng, 0, 8);
    ((uint64_t *)v->memory)[i] = value;
  }
  memcpy(isovalues, all[n].isovalues, sizeof all[n].isovalues);
  test_about("64-bit integers near their ends: volume %d, %s, runs of %d", n, type_name(all[n].type), run);
}

/* A value of one kind of data, before rounding to the type. `scale` spreads it over the type's range. */
static double data_value(int data, const double x[3], const double wave[6], double low, double scale, test_rng *rng)
{
  const double few = data == DATA_PLATEAU ? (double)rng_int(rng, -1, 3) : 0;
  if (data == DATA_PLATEAU) return few < 0 ? -0.0 : few; /* zeros of both signs */
  if (data == DATA_NOISE) return low + scale * rng_real(rng, 0, 1);
  double smooth = 0;
  for (int a = 0; a < 3; a++) smooth += sin(wave[a] * x[a] + wave[3 + a]) / 6;
  if (data == DATA_SPARSE) smooth = smooth > 0.3 ? smooth : -0.5;
  return low + scale * (0.5 + smooth);
}

void volume_fill(const test_volume *v, int data, test_rng *rng)
{
  const int64_t *dims = v->view.dims;
  double low, high, wave[6];
  type_range(v->view.type, &low, &high);
  /* Half of the volumes of wide types have small values, for ties and exact fractions. */
  if (high > 1e6) {
    int wide = (int)rng_int(rng, 0, 1);
    high = wide ? (high < 1e30 ? high : 1e30) : 1000;
    low = low < 0 ? -high : 0;
  }
  for (int n = 0; n < 6; n++) wave[n] = rng_real(rng, 0.05, 0.6);
  for (int64_t k = 0; k < dims[2]; k++)
    for (int64_t j = 0; j < dims[1]; j++)
      for (int64_t i = 0; i < dims[0]; i++) {
        double x[3] = { (double)i, (double)j, (double)k };
        if (data == DATA_LIMITS)
          set_limit(v, i, j, k, rng_bits(rng));
        else
          volume_set(v, i, j, k, data_value(data, x, wave, low, high - low, rng));
      }
}

void volume_sprinkle(const test_volume *v, int every, test_rng *rng)
{
  if (v->view.type < PMB_FLOAT32) return;
  for (int64_t n = 0; n < ref_samples(&v->view); n++) {
    static const double bad[] = { NAN, -NAN, INFINITY, -INFINITY };
    double value = bad[rng_int(rng, 0, 3)];
    if (rng_int(rng, 1, every) == 1) volume_put(v, n, value);
  }
}

void volume_world(test_volume *v, int world, test_rng *rng)
{
  double *m = v->view.index_to_world;
  double scale = world == WORLD_TINY ? 1e-30 : world == WORLD_HUGE ? 1e30 : 1;
  memset(m, 0, sizeof v->view.index_to_world);
  for (int a = 0; a < 3; a++) v->view.first[a] = rng_int(rng, 0, 1) ? rng_int(rng, -3000, 3000) : 0;
  if (world == WORLD_IDENTITY) return;
  for (int r = 0; r < 3; r++) {
    m[5 * r] = scale * rng_real(rng, 0.3, 3);
    m[4 * r + 3] = scale * rng_real(rng, -100, 100);
  }
  if (world == WORLD_MIRRORED) m[5 * rng_int(rng, 0, 2)] *= -1;
  if (world == WORLD_REVERSED) { /* as NumPy's axes; zeros of both signs */
    for (int c = 0; c < 4; c++) {
      const double first = m[c];
      m[c] = m[8 + c];
      m[8 + c] = first;
    }
    m[2] *= rng_int(rng, 0, 1) ? -1 : 1;
    m[3] *= (double)rng_int(rng, 0, 1);
    for (int i = 0; i < 12; i++) m[i] = m[i] == 0 && rng_int(rng, 0, 3) == 0 ? -0.0 : m[i];
  }
  if (world == WORLD_SPACING || world == WORLD_REVERSED) return;
  for (int r = 0; r < 3; r++) /* smaller than the diagonal: stays invertible */
    for (int c = 0; c < 3; c++)
      if (r != c) m[4 * r + c] = scale * rng_real(rng, -0.13, 0.13);
}

double volume_isovalue(const test_volume *v, test_rng *rng)
{
  const int64_t *d = v->view.dims;
  double value[2];
  for (int n = 0; n < 2; n++) {
    value[n] = ref_sample(&v->view, rng_int(rng, 0, d[0] - 1), rng_int(rng, 0, d[1] - 1), rng_int(rng, 0, d[2] - 1));
    if (!isfinite(value[n])) value[n] = 0.5;
  }
  switch (rng_int(rng, 0, 9)) {
    case 0:
    case 1:
    case 2:
      return value[0];
    case 3:
      return nextafter(value[0], fabs(value[0]) < 1 ? 2 : 0);
    case 4:
      return floor(value[0] / 2) + 0.5;
    case 5:
      return rng_int(rng, 0, 3) ? value[0] : 1e300;
    default:
      return value[0] / 2 + value[1] / 2;
  }
}

test_volume volume_of_field(pmb_type type, int64_t n, double (*f)(double, double, double))
{
  test_volume v;
  volume_sampled(&v, type, n, f);
  return v;
}

double ball(double x, double y, double z)
{
  return 0.7 - sqrt(x * x + y * y + z * z);
}

double cayley(double x, double y, double z)
{
  return 1 - 16 * x * y * z - 4 * (x * x + y * y + z * z);
}

double gyroid(double x, double y, double z)
{
  double s = 12;
  return sin(s * x) * cos(s * y) + sin(s * y) * cos(s * z) + sin(s * z) * cos(s * x);
}

void volume_sampled(test_volume *v, pmb_type type, int64_t n, double (*f)(double, double, double))
{
  double step = 2.0 / (double)(n - 1);
  volume_make(v, type, n, n, n, LAYOUT_PACKED);
  for (int64_t k = 0; k < n; k++)
    for (int64_t j = 0; j < n; j++)
      for (int64_t i = 0; i < n; i++)
        volume_set(v, i, j, k, f((double)i * step - 1, (double)j * step - 1, (double)k * step - 1));
  for (int r = 0; r < 3; r++) {
    v->view.index_to_world[5 * r] = step;
    v->view.index_to_world[4 * r + 3] = -1;
  }
}

/* Allocates exactly n flags. About one in `every` has a bit of `bits`, the others have none of these. */
static uint8_t *random_flags(int64_t n, int every, uint8_t bits, test_rng *rng)
{
  uint8_t *flags = test_allocate(n, 1);
  for (int64_t i = 0; i < n; i++) {
    flags[i] = (uint8_t)(rng_int(rng, 0, 255) & ~bits);
    if (rng_int(rng, 1, every) == 1) flags[i] |= (uint8_t)(bits & -bits);
  }
  return flags;
}

void volume_hide(test_volume *v, int samples_every, int cells_every, test_rng *rng)
{
  const int64_t *d = v->view.dims;
  if (samples_every) {
    v->view.hidden_sample_bits = (uint8_t)rng_int(rng, 1, 255);
    v->sample_flags = random_flags(d[0] * d[1] * d[2], samples_every, v->view.hidden_sample_bits, rng);
    v->view.sample_flags = v->sample_flags;
  }
  if (cells_every) {
    v->view.hidden_cell_bits = (uint8_t)rng_int(rng, 1, 255);
    v->cell_flags = random_flags((d[0] - 1) * (d[1] - 1) * (d[2] - 1), cells_every, v->view.hidden_cell_bits, rng);
    v->view.cell_flags = v->cell_flags;
  }
}

void volume_random(test_volume *v, int64_t nx, int64_t ny, int64_t nz, test_rng *rng)
{
  pmb_type type = (pmb_type)rng_int(rng, PMB_INT8, PMB_FLOAT64);
  int data = (int)rng_int(rng, 0, DATA_KINDS - 1), world = (int)rng_int(rng, 0, WORLDS - 1);
  /* Half of the volumes are packed, for the fast path; so are some of the others. */
  int layout = rng_int(rng, 0, 1) ? LAYOUT_PACKED : (int)rng_int(rng, 0, LAYOUTS - 1);
  int every = rng_int(rng, 0, 2) ? 0 : (int)rng_int(rng, 4, 400);
  int samples = rng_int(rng, 0, 5) ? 0 : (int)rng_int(rng, 1, 2000);
  int cells = rng_int(rng, 0, 5) ? 0 : (int)rng_int(rng, 1, 2000);
  volume_make(v, type, nx, ny, nz, layout);
  volume_fill(v, data, rng);
  if (every) volume_sprinkle(v, every, rng);
  volume_world(v, world, rng);
  volume_hide(v, samples, cells, rng);
  test_about("%d x %d x %d %s, data %d, layout %d, world %d, non-finite 1/%d, hidden samples 1/%d, cells 1/%d",
    (int)nx, (int)ny, (int)nz, type_name(type), data, layout, world, every, samples, cells);
}
