/* SPDX-License-Identifier: BSD-3-Clause
 * Memory of a GPU for Python, pictures, and arrays that change hands by DLPack (github.com/dmlc/dlpack, version 1.0 and before). */
#ifndef PMB_PYTHON_DEVICE_H
#define PMB_PYTHON_DEVICE_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Adds the type Memory and the functions for arrays of GPUs (pmb/_core.pyi) to the module. Returns 0, or -1 with an exception. */
int pmb_add_device(PyObject* module);

/* The thread's current GPU, which other libraries use too; -1: there is none. */
int pmb_device_of_thread(void);

/* Makes that GPU the current one again. One that nobody has used stays out: to select it would take memory there. */
void pmb_return_to_device(int device);

#endif
