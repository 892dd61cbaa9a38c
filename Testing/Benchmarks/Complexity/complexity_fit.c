/* SPDX-License-Identifier: BSD-3-Clause */
#include "complexity.h"

#include <math.h>

void fit_add(fit *f, double x, double y)
{
  if (f->rows < MOST_ROWS) {
    f->x[f->rows] = x;
    f->y[f->rows++] = y;
  }
}

void fit_finish(fit *f)
{
  double sum_x = 0, sum_y = 0, xx = 0, xy = 0;
  f->count = 0;
  for (int i = 0; i < f->rows; i++) {
    f->used[i] = f->x[i] > 0 && f->y[i] > 0 && f->x[i] >= f->x_floor && f->y[i] >= f->floor;
    f->count += f->used[i];
    sum_x += f->used[i] ? log(f->x[i]) : 0;
    sum_y += f->used[i] ? log(f->y[i]) : 0;
  }
  for (int i = 0; i < f->rows; i++)
    if (f->used[i]) {
      const double x = log(f->x[i]) - sum_x / f->count, y = log(f->y[i]) - sum_y / f->count;
      xx += x * x;
      xy += x * y;
    }
  f->exponent = f->count >= 3 && xx > 1e-6 ? xy / xx : NAN;
}

int fit_two(const row *rows, int count, double *a, double *b, double *worst)
{
  double pp = 0, pq = 0, qq = 0, p1 = 0, q1 = 0;
  *worst = 0;
  for (int i = 0; i < count; i++) {
    const double t = rows[i].ms[CHANGE] - rows[i].ms[SELECT];
    const double p = (double)rows[i].active / t,
                 q = (double)rows[i].sizes.triangles / t; /* the relative error counts */
    pp += p * p;
    pq += p * q;
    qq += q * q;
    p1 += p;
    q1 += q;
  }
  const double determinant = pp * qq - pq * pq;
  if (count < 3 || !(determinant > 1e-9 * pp * qq)) return 0;
  const double ms_active = (p1 * qq - q1 * pq) / determinant, ms_triangle = (q1 * pp - p1 * pq) / determinant;
  for (int i = 0; i < count; i++) {
    const double t = rows[i].ms[CHANGE] - rows[i].ms[SELECT];
    const double made = ms_active * (double)rows[i].active + ms_triangle * (double)rows[i].sizes.triangles;
    *worst = fmax(*worst, fabs(made / t - 1));
  }
  *a = 1e6 * ms_active;
  *b = 1e6 * ms_triangle;
  return 1;
}
