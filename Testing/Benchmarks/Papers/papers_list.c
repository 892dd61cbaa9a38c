/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Compiled for the CPU's systems, and with PAPERS_ON_GPU for the GPU's; PAPERS_HAVE_NAME: those that there are (see
 * CMakeLists.txt). */
#include "papers_list.h"

#ifdef PAPERS_ON_GPU
#define SYSTEM(name) &papers_##name##_gpu
#else
#define SYSTEM(name) &papers_##name##_cpu
#endif

static const papers_entry entries[] = {
#ifndef PAPERS_ON_GPU
  { SYSTEM(pmb), PAPERS_EDGES, 1 }, /* proves the judge and the tests */
#endif
#ifdef PAPERS_HAVE_SCAN
  { SYSTEM(scan), PAPERS_SOUP, 0 },
#endif
#ifdef PAPERS_HAVE_HPMC
  { SYSTEM(hpmc), PAPERS_SOUP, 0 }, { SYSTEM(hpmc_indexed), PAPERS_EDGES, 0 },
#endif
#ifdef PAPERS_HAVE_HP3D
  { SYSTEM(hp3d), PAPERS_SOUP, 0 },
#endif
#ifdef PAPERS_HAVE_PMB2016
  { SYSTEM(pmb2016), PAPERS_SEAMS, 1 },
#endif
#ifdef PAPERS_HAVE_WELDED
  { SYSTEM(welded), PAPERS_WELDED, 1 },
#endif
  { 0 } /* a list is never empty in C */
};

enum { COUNT = sizeof entries / sizeof *entries - 1 };

#ifdef PAPERS_ON_GPU
const papers_list papers_gpu_list = { &papers_device, entries, COUNT };
#else
const papers_list papers_cpu_list = { &papers_host, entries, COUNT };
#endif
