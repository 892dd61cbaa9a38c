/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/pmb_path.h"

#include <stdlib.h>
#include <string.h>

#include "core/pmb_backend.h"

static const char *const names[] = {
  [PMB_PATH_PORTABLE] = "portable", [PMB_PATH_AVX2] = "avx2", [PMB_PATH_AVX512] = "avx512"
};

/* Whether this build has loops for it and this machine runs them. */
static int runs_here(pmb_path path)
{
#if defined(PMB_AVX512)
  if (path == PMB_PATH_AVX512) {
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2") &&
      __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("gfni") && __builtin_cpu_supports("bmi2");
  }
#endif
#if defined(PMB_AVX2)
  if (path == PMB_PATH_AVX2) {
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
  }
#endif
  return path == PMB_PATH_PORTABLE;
}

pmb_path pmb_best_path(void)
{
  pmb_path path = PMB_PATH_AVX512;
  while (!runs_here(path)) {
    --path;
  }
  return path;
}

pmb_status pmb_choose_path(pmb_context *context, const char *name)
{
  const char *variable = getenv("PMB_CPU_PATH");
  const char *named_by = name ? "cpu_path" : "PMB_CPU_PATH";
  name = name || !variable || !*variable ? name : variable;
  context->full_rules_only = name && strcmp(name, "reference") == 0;
  context->path = context->full_rules_only ? PMB_PATH_PORTABLE : pmb_best_path();
  context->info.path = context->full_rules_only ? "reference" : names[context->path];
  if (!name || context->full_rules_only) {
    return PMB_OK;
  }
  for (pmb_path path = PMB_PATH_PORTABLE; path <= PMB_PATH_AVX512; ++path) {
    if (strcmp(name, names[path]) == 0 && runs_here(path)) {
      context->path = path;
      context->info.path = names[path];
      return PMB_OK;
    }
  }
  return pmb_fail(context, PMB_UNAVAILABLE,
    "%s \"%.40s\" is not available; leave it out to use \"%s\", or use \"portable\" or \"reference\"", named_by, name,
    names[pmb_best_path()]);
}
