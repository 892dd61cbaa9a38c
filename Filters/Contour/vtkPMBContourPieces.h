// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Private to this module: a surface in files, for vtkPMBContourFilter::PiecesFileName.
#ifndef vtkPMBContourPieces_h
#define vtkPMBContourPieces_h

#include "vtkPMBContourFilter.h"

#include <filesystem>
#include <map>
#include <string>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMB
{
// Writes NAME_0.vtp and so on, and NAME.pvtp, which lists them.
class Pieces
{
public:
  explicit Pieces(vtkPMBContourFilter* filter);
  ~Pieces(); // removes the files, unless they are complete

  bool AreWanted() const { return !this->Name.empty(); }

  // Writes the next mesh of an isovalue (their number), unless it is empty. Throws Failed, Aborted.
  void Write(size_t isovalue, vtkPolyData* mesh);

  // Lists the files, those of an isovalue one after another. Returns what to tell the user. Throws Failed.
  std::string Finish();

private:
  std::filesystem::path File(size_t number) const;
  // Removes the files of an earlier surface, which its .pvtp lists.
  void RemoveEarlier() const;

  vtkPMBContourFilter* Filter;
  std::filesystem::path Name;                         // without .pvtp
  std::multimap<size_t, std::filesystem::path> Files; // by isovalue
  std::string Arrays;                                 // of all meshes, as a .pvtp describes them
};
}
VTK_ABI_NAMESPACE_END
#endif
