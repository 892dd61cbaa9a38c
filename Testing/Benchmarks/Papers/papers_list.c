/* SPDX-License-Identifier: BSD-3-Clause
 *
 * Compiled into each program by itself, with PAPERS_HAVE_NAME for what there is (see CMakeLists.txt). */
#include "papers_list.h"

#ifdef PAPERS_ON_GPU
#define SYSTEM(name) &papers_##name##_gpu
const papers_place *const papers_here = &papers_device;
#else
#define SYSTEM(name) &papers_##name##_cpu
const papers_place *const papers_here = &papers_host;
#endif

const papers_entry papers_entries[] = {
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

const int papers_count = (int)(sizeof papers_entries / sizeof *papers_entries) - 1;
