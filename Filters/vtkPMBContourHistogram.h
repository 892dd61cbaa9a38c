// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: the table of vtkPMBIsovalueHistogram, and suggested isovalues.
#ifndef vtkPMBContourHistogram_h
#define vtkPMBContourHistogram_h

#include "vtkABINamespace.h"

#include "pmb.h"

VTK_ABI_NAMESPACE_BEGIN
class vtkTable;

namespace vtkPMBContour
{
// More than this many are never asked for.
const int64_t MostSuggestions = 8;

// Fills the table from the summary of the bound volume; without rows where there is no range to cut into bins. On failure
// the table is as it was. Throws std::bad_alloc.
pmb_status FillHistogram(pmb_context* context, int bins, vtkTable* table);
}

VTK_ABI_NAMESPACE_END
#endif
