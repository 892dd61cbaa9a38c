/* SPDX-License-Identifier: BSD-3-Clause
 * Functions for pmb.compat, which stands in for other packages. */
#ifndef PMB_PYTHON_COMPAT_H
#define PMB_PYTHON_COMPAT_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>

/* Adds the functions for pmb.compat (pmb/_core.pyi) to the module. Returns 0, or -1 with an exception. */
int pmb_add_compat(PyObject* module);

#endif
