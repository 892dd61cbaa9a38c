// SPDX-License-Identifier: BSD-3-Clause
#include "BenchVolumes.h"

#include "vtkDataArray.h"
#include "vtkDoubleArray.h"
#include "vtkFloatArray.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkRTAnalyticSource.h"
#include "vtkSMPTools.h"
#include "vtkShortArray.h"
#include "vtkUnsignedCharArray.h"
#include "vtkXMLImageDataReader.h"
#include "vtksys/SystemTools.hxx"

#include <cmath>
#include <limits>

namespace
{
// A field on [-1,1]^3 with its exact range there.
struct Field
{
  double (*Value)(double x, double y, double z);
  double Minimum, Maximum;
};

double Cayley(double x, double y, double z)
{
  return 1.0 - 16.0 * x * y * z - 4.0 * (x * x + y * y + z * z);
}

double Gyroid(double x, double y, double z)
{
  const double k = 12.0 * 3.14159265358979323846;
  return std::sin(k * x) * std::cos(k * y) + std::sin(k * y) * std::cos(k * z) + std::sin(k * z) * std::cos(k * x);
}

// Cayley: the extremes are at corners (xyz = 1 and -1); gyroid: 1.5 by calculus.
const Field CayleyField = { Cayley, -27.0, 5.0 };
const Field GyroidField = { Gyroid, -1.5, 1.5 };

template <typename T>
T ToType(double value)
{
  return std::numeric_limits<T>::is_integer ? static_cast<T>(std::lround(value)) : static_cast<T>(value);
}

// The affine map of a field's values to a type's: the identity for floating point.
struct Map
{
  double Scale, Shift;
  double operator()(double value) const { return this->Scale * value + this->Shift; }
};

template <typename T>
Map MapToType(double minimum, double maximum)
{
  if (!std::numeric_limits<T>::is_integer)
  {
    return { 1.0, 0.0 };
  }
  const double low = std::numeric_limits<T>::min();
  const double high = std::numeric_limits<T>::max();
  const double scale = (high - low) / (maximum - minimum);
  return { scale, low - scale * minimum };
}

template <typename ArrayT>
BenchImage SampleField(const Field& field, int size, double isovalue)
{
  using T = typename ArrayT::ValueType;
  vtkNew<vtkImageData> image;
  const double spacing = 2.0 / (size - 1);
  image->SetDimensions(size, size, size);
  image->SetOrigin(-1.0, -1.0, -1.0);
  image->SetSpacing(spacing, spacing, spacing);
  vtkNew<ArrayT> array;
  array->SetName("field");
  array->SetNumberOfValues(static_cast<vtkIdType>(size) * size * size);
  T* samples = array->GetPointer(0);
  const Map map = MapToType<T>(field.Minimum, field.Maximum);
  vtkSMPTools::For(0, size,
    [=](vtkIdType begin, vtkIdType end)
    {
      T* sample = samples + begin * size * size;
      for (vtkIdType k = begin; k < end; ++k)
      {
        for (int j = 0; j < size; ++j)
        {
          for (int i = 0; i < size; ++i)
          {
            *sample++ = ToType<T>(map(field.Value(i * spacing - 1.0, j * spacing - 1.0, k * spacing - 1.0)));
          }
        }
      }
    });
  image->GetPointData()->SetScalars(array);
  return { image, map(isovalue) };
}

// VTK's own wavelet, which is float32, converted.
template <typename ArrayT>
BenchImage SampleWavelet(int size, double isovalue)
{
  using T = typename ArrayT::ValueType;
  vtkNew<vtkRTAnalyticSource> source;
  source->SetWholeExtent(-size / 2, size / 2 - 1, -size / 2, size / 2 - 1, -size / 2, size / 2 - 1);
  source->Update();
  vtkSmartPointer<vtkImageData> image = source->GetOutput();
  vtkDataArray* wavelet = image->GetPointData()->GetScalars();
  double range[2];
  wavelet->GetRange(range);
  const Map map = MapToType<T>(range[0], range[1]);
  vtkNew<ArrayT> array;
  array->SetName("wavelet");
  array->SetNumberOfValues(wavelet->GetNumberOfTuples());
  const float* from = vtkFloatArray::SafeDownCast(wavelet)->GetPointer(0);
  T* to = array->GetPointer(0);
  for (vtkIdType id = 0; id < array->GetNumberOfValues(); ++id)
  {
    to[id] = ToType<T>(map(from[id]));
  }
  image->GetPointData()->SetScalars(array);
  return { image, map(isovalue) };
}

template <typename ArrayT>
BenchImage MakeSynthetic(const BenchVolume& volume)
{
  if (volume.Name == "wavelet")
  {
    return SampleWavelet<ArrayT>(volume.Size, volume.Isovalue);
  }
  const Field& field = volume.Name == "cayley" ? CayleyField : GyroidField;
  return SampleField<ArrayT>(field, volume.Size, volume.Isovalue);
}

BenchImage ReadScan(const BenchVolume& volume)
{
  vtkNew<vtkXMLImageDataReader> reader;
  reader->SetFileName(volume.FileName.c_str());
  reader->Update();
  vtkSmartPointer<vtkImageData> image = reader->GetOutput();
  if (!image->GetPointData()->GetScalars())
  {
    image = nullptr;
  }
  return { image, volume.Isovalue };
}
}

//------------------------------------------------------------------------------
std::vector<BenchVolume> ListBenchVolumes(bool quick, const std::string& scans)
{
  std::vector<BenchVolume> volumes;
  const std::vector<std::string> types =
    quick ? std::vector<std::string>{ "f32" } : std::vector<std::string>{ "f32", "u8", "i16", "f64" };
  for (const std::string& type : types)
  {
    volumes.push_back({ "cayley", 256, type, "", -0.012 });
    if (!quick)
    {
      volumes.push_back({ "cayley", 512, type, "", -0.012 });
    }
    volumes.push_back({ "gyroid", 256, type, "", 0.1 });
    volumes.push_back({ "wavelet", 256, type, "", 157.0 });
  }
  const BenchVolume candidates[] = { { "ch2", 0, "u8", "ch2.vti", 70.0 },
    { "cranium", 0, "i16", "cranium.vti", 300.0 }, { "1jzv", 0, "f32", "1jzv.vti", 1.5 } };
  for (BenchVolume scan : candidates)
  {
    scan.FileName = scans + "/" + scan.FileName;
    if (!scans.empty() && vtksys::SystemTools::FileExists(scan.FileName, true))
    {
      volumes.push_back(scan);
    }
  }
  return volumes;
}

//------------------------------------------------------------------------------
double BenchVolumeBytes(const BenchVolume& volume)
{
  if (volume.Size == 0)
  {
    return static_cast<double>(vtksys::SystemTools::FileLength(volume.FileName));
  }
  const double width = volume.Type == "u8" ? 1 : volume.Type == "i16" ? 2 : volume.Type == "f32" ? 4 : 8;
  // The wavelet is made as float32 and then converted.
  const double source = volume.Name == "wavelet" ? 4 : 0;
  return std::pow(static_cast<double>(volume.Size), 3) * (width + source);
}

//------------------------------------------------------------------------------
BenchImage MakeBenchImage(const BenchVolume& volume)
{
  if (volume.Size == 0)
  {
    return ReadScan(volume);
  }
  if (volume.Type == "u8")
  {
    return MakeSynthetic<vtkUnsignedCharArray>(volume);
  }
  if (volume.Type == "i16")
  {
    return MakeSynthetic<vtkShortArray>(volume);
  }
  if (volume.Type == "f32")
  {
    return MakeSynthetic<vtkFloatArray>(volume);
  }
  return MakeSynthetic<vtkDoubleArray>(volume);
}
