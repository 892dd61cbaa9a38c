/* SPDX-License-Identifier: BSD-3-Clause
 * From a volume's index_to_world to what points and normals need. */
#ifndef PMB_FRAME_H
#define PMB_FRAME_H

#include "core/pmb_isovalue.h"
#include "shared/pmb_point.h"

/* index_to_world: 3 x 4, all 0 means the identity. Returns 0 if it is not finite or has no usable inverse. */
int pmb_frame_make(const double index_to_world[12], pmb_frame *frame);

/* Fits the frame to samples of a type between minimum and maximum (minimum > maximum: there are none). */
void pmb_frame_fit(pmb_frame *frame, pmb_type type, double minimum, double maximum);

#endif
