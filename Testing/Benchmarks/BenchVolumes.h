// SPDX-License-Identifier: BSD-3-Clause
// The volumes of the benchmark: synthetic fields in four sample types, and the real scans.
#ifndef BenchVolumes_h
#define BenchVolumes_h

#include "vtkImageData.h"
#include "vtkSmartPointer.h"

#include <string>
#include <vector>

struct BenchVolume
{
  std::string Name;     // "cayley", "gyroid", "wavelet", or a scan's
  int Size;             // samples along each axis of a synthetic field, 0 for a scan
  std::string Type;     // "u8", "i16", "f32", "f64"; a scan's is that of its file
  std::string FileName; // of a scan
  double Isovalue;      // in the field's own values
};

// What there is to time. quick: the small fields in f32, and the scans. Scans are the .vti files in `scans`.
std::vector<BenchVolume> ListBenchVolumes(bool quick, const std::string& scans);

// Bytes of the samples, as far as known without reading a file.
double BenchVolumeBytes(const BenchVolume& volume);

struct BenchImage
{
  vtkSmartPointer<vtkImageData> Image; // null if a scan's file cannot be read
  double Isovalue;                     // in the image's values
};

// Fills the samples. For u8 and i16 the field's values are mapped affinely to the type's whole range, and the
// isovalue with them.
BenchImage MakeBenchImage(const BenchVolume& volume);

#endif
