// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// Shared by the tests of vtkPMBContourFilter: images, reference filters, checks of meshes.
#ifndef PMBTesting_h
#define PMBTesting_h

#include "vtkImageData.h"
#include "vtkPMBContourFilter.h"
#include "vtkPolyData.h"
#include "vtkSmartPointer.h"

#include <cstdlib>
#include <functional>
#include <sstream>
#include <string>
#include <vector>

class vtkDataArray;
class vtkFieldData;

namespace pmbtest
{
// Number of failed checks in this test; a test returns Result().
int& Failures();
inline int Result()
{
  return Failures() ? EXIT_FAILURE : EXIT_SUCCESS;
}
void Fail(const char* file, int line, const std::string& text);

template <typename A, typename B>
void CheckEqual(const A& a, const B& b, const std::string& what, const char* file, int line)
{
  if (!(a == b))
  {
    std::ostringstream text;
    text << what << ": " << a << ", expected " << b;
    Fail(file, line, text.str());
  }
}

#define PMB_CHECK(condition, what)                      \
  do                                                    \
  {                                                     \
    if (!(condition))                                   \
    {                                                   \
      std::ostringstream pmbText;                       \
      pmbText << what << " (" #condition ")";           \
      pmbtest::Fail(__FILE__, __LINE__, pmbText.str()); \
    }                                                   \
  } while (false)
#define PMB_EQUAL(a, b, what) pmbtest::CheckEqual((a), (b), (what), __FILE__, __LINE__)

inline bool Has(const std::string& text, const std::string& part)
{
  return text.find(part) != std::string::npos;
}

// --- images ---------------------------------------------------------------------------------------------------------

using Field = std::function<double(int i, int j, int k)>; // i, j, k from 0, whatever the extent

vtkSmartPointer<vtkImageData> MakeImage(int nx, int ny, int nz, int vtkType, const Field& field);
// A point array with the field as one component; the others are i + j + k.
vtkSmartPointer<vtkDataArray> MakeArray(
  vtkImageData* image, const char* name, int vtkType, int components, int component, const Field& field);

Field Gyroid(double cellsPerPeriod);
Field Distance(double cx, double cy, double cz);
// Whole numbers from 0 to range - 1, the same on every run.
Field Noise(unsigned seed, unsigned range);

// --- runs -----------------------------------------------------------------------------------------------------------

using Setup = std::function<void(vtkPMBContourFilter*)>;
vtkSmartPointer<vtkPolyData> Contour(vtkImageData* image, double isovalue, const Setup& setup = Setup());
vtkSmartPointer<vtkPolyData> FlyingEdges(vtkImageData* image, double isovalue);

// Collects an algorithm's errors and warnings instead of printing them.
class Messages
{
public:
  explicit Messages(vtkObject* object);
  ~Messages();
  Messages(const Messages&) = delete;
  void operator=(const Messages&) = delete;
  int Errors() const { return this->ErrorCount; }
  int Warnings() const { return this->WarningCount; }
  std::string Text() const { return this->AllText; } // of all of them
  void Clear()
  {
    this->ErrorCount = this->WarningCount = 0;
    this->AllText.clear();
  }

private:
  class Observer;
  vtkSmartPointer<Observer> Watcher;
  vtkSmartPointer<vtkObject> Object;
  int ErrorCount = 0, WarningCount = 0;
  std::string AllText;
};

// --- meshes ---------------------------------------------------------------------------------------------------------

std::vector<vtkIdType> TrianglesOf(vtkPolyData* mesh); // 3 per triangle

// The greatest distance from a point of either mesh to the nearest point of the other.
double Hausdorff(vtkPolyData* a, vtkPolyData* b);

// Whether points, triangles, lines and all arrays have the same bytes, types, names and order.
bool SameBytes(vtkPolyData* a, vtkPolyData* b, std::string& difference);
// Returns the first difference between two lists of arrays, or "".
std::string FieldDifference(vtkFieldData* a, vtkFieldData* b, const std::string& what);
}
#endif
