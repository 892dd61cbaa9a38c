/* SPDX-License-Identifier: BSD-3-Clause
 * Includes the template that PMB_EACH_TYPE names once per sample type. PMB_TYPE is the type's name in pmb_types.h;
 * PMB_T_REAL_NAME(name) is the function of pmb_point.h for the type in which its samples are handled. */
#include "shared/pmb_point.h"
#include "shared/pmb_types.h"

#define PMB_T_REAL_NAME(name) PMB_NAME_F32(name)
#define PMB_TYPE int8
#include PMB_EACH_TYPE
#undef PMB_TYPE
#define PMB_TYPE uint8
#include PMB_EACH_TYPE
#undef PMB_TYPE
#define PMB_TYPE int16
#include PMB_EACH_TYPE
#undef PMB_TYPE
#define PMB_TYPE uint16
#include PMB_EACH_TYPE
#undef PMB_TYPE
#define PMB_TYPE float32
#include PMB_EACH_TYPE
#undef PMB_TYPE
#undef PMB_T_REAL_NAME

#define PMB_T_REAL_NAME(name) PMB_NAME_F64(name)
#define PMB_TYPE int32
#include PMB_EACH_TYPE
#undef PMB_TYPE
#define PMB_TYPE uint32
#include PMB_EACH_TYPE
#undef PMB_TYPE
#define PMB_TYPE int64
#include PMB_EACH_TYPE
#undef PMB_TYPE
#define PMB_TYPE uint64
#include PMB_EACH_TYPE
#undef PMB_TYPE
#define PMB_TYPE float64
#include PMB_EACH_TYPE
#undef PMB_TYPE
#undef PMB_T_REAL_NAME

#undef PMB_EACH_TYPE
