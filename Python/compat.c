/* SPDX-License-Identifier: BSD-3-Clause
 * What pmb.compat needs beside the core. */
#include "compat.h"

#include <stdint.h>

/* For pmb.compat.skimage: raises the value of each point to the greatest difference of two samples of a cell whose triangles use
 * it. */
static PyObject* local_ranges(PyObject* unused, PyObject* args)
{
  (void)unused;
  unsigned long long a_samples, a_cells, a_triangles, a_values;
  long long d[3], s[3], m;
  if (!PyArg_ParseTuple(args, "K(LLL)(LLL)LKKK", &a_samples, &d[0], &d[1], &d[2], &s[0], &s[1], &s[2], &m, &a_cells,
        &a_triangles, &a_values))
  {
    return NULL;
  }
  const float* samples = (const float*)(uintptr_t)a_samples;
  const int64_t* cells = (const int64_t*)(uintptr_t)a_cells;
  const int32_t* triangles = (const int32_t*)(uintptr_t)a_triangles;
  float *values = (float*)(uintptr_t)a_values, range = 0;
  PyThreadState* thread = PyEval_SaveThread();
  for (int64_t t = 0; t < m; ++t)
  {
    if (t == 0 || cells[t] != cells[t - 1])
    {
      const int64_t row = cells[t] / (d[0] - 1);
      const float* low = samples + cells[t] % (d[0] - 1) * s[0] + row % (d[1] - 1) * s[1] + row / (d[1] - 1) * s[2];
      float most = *low, least = *low;
      for (int c = 1; c < 8; ++c)
      {
        const float sample = low[(c & 1) * s[0] + (c >> 1 & 1) * s[1] + (c >> 2) * s[2]];
        most = sample > most ? sample : most;
        least = sample < least ? sample : least;
      }
      range = most - least;
    }
    for (int c = 0; c < 3; ++c)
    {
      float* value = values + triangles[3 * t + c];
      *value = range > *value ? range : *value;
    }
  }
  PyEval_RestoreThread(thread);
  return Py_NewRef(Py_None);
}

static PyMethodDef functions[] = { { "local_ranges", local_ranges, METH_VARARGS, NULL }, { NULL, NULL, 0, NULL } };

int pmb_add_compat(PyObject* module)
{
  return PyModule_AddFunctions(module, functions);
}
