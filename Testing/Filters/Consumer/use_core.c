/* SPDX-License-Identifier: BSD-3-Clause
 * The core of an installed package: the number of triangles of a plane through n x n cells is 2 n^2. */
#include <stdio.h>

#include <pmb.h>

int main(void)
{
  enum
  {
    N = 40
  };
  static float samples[N * N * N];
  const double isovalue = 10.5;
  pmb_context* context = NULL;
  pmb_volume volume = { .struct_size = sizeof(volume), .samples = samples, .type = PMB_FLOAT32, .dims = { N, N, N } };
  pmb_request request = { .struct_size = sizeof(request), .isovalues = &isovalue, .isovalue_count = 1 };
  pmb_sizes sizes = { 0, 0 };
  for (int i = 0; i < N * N * N; ++i)
  {
    samples[i] = (float)(i % N);
  }
  if (pmb_create(NULL, &context) != PMB_OK || pmb_bind(context, &volume) != PMB_OK ||
    pmb_count(context, &request, &sizes, NULL) != PMB_OK)
  {
    printf("%s\n", pmb_error(context));
    return 1;
  }
  pmb_destroy(context);
  printf("core: %lld points, %lld triangles\n", (long long)sizes.points, (long long)sizes.triangles);
  return sizes.points == N * N && sizes.triangles == 2 * (N - 1) * (N - 1) ? 0 : 1;
}
