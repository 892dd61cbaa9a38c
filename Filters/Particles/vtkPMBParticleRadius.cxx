// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The spacing of the points follows from the distances of some samples to their 12 nearest neighbors at other places: with
// random points as with lattices, the 12th is as far as the spacing times a factor of the dimension. The dimension follows from the
// third: scans are surfaces. So bonds of molecules and points that happen to be close do not count, duplicates neither. Where the
// first is closer than on a lattice, points are in disorder, and a somewhat larger spacing closes the gaps between them.
//
// Each sample is compared with each point, which takes a twentieth of the time of the surface.
#include "vtkPMBParticleRadius.h"

#include "vtkCommunicator.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <future>
#include <limits>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMB
{
double FindMean(const Ranks& ranks, vtkDataArray* array)
{
  // Sums of whole numbers: the mean does not depend on how the particles are spread over ranks.
  const double scale = 1 << 30;
  const auto isGood = [](double value) { return value > 0 && std::isfinite(value); };
  std::vector<double> most = { 0.0 };
  std::vector<vtkIdType> total = { 0, 0 }; // the sum, and how many
  for (vtkIdType i = 0; i < array->GetNumberOfTuples(); ++i)
  {
    const double value = array->GetComponent(i, 0);
    most[0] = isGood(value) ? std::max(most[0], value) : most[0];
  }
  ranks.Reduce(most, vtkCommunicator::MAX_OP);
  for (vtkIdType i = 0; i < array->GetNumberOfTuples(); ++i)
  {
    const double value = array->GetComponent(i, 0);
    total[0] += isGood(value) ? std::llround(value / most[0] * scale) : 0;
    total[1] += isGood(value);
  }
  ranks.Reduce(total, vtkCommunicator::SUM_OP);
  return total[1] > 0 ? most[0] * (static_cast<double>(total[0]) / scale / static_cast<double>(total[1])) : 0.0;
}

namespace
{
using Place = std::array<double, 3>;

const double Infinity = std::numeric_limits<double>::infinity();

// The nearest points to a sample at other places, and the squares of their distances; infinite: not found yet.
struct Neighbors
{
  static const int Count = 12;
  std::array<double, Count> Distances2;
  std::array<Place, Count> Places;

  Neighbors() { this->Distances2.fill(Infinity); }

  void Add(const Place& place, double distance2)
  {
    int i = Count;
    while (i > 0 && distance2 <= this->Distances2[i - 1])
    {
      if (distance2 == this->Distances2[--i] && place == this->Places[i])
      {
        return;
      }
    }
    for (int k = Count - 1; k > i; --k)
    {
      this->Distances2[k] = this->Distances2[k - 1];
      this->Places[k] = this->Places[k - 1];
    }
    if (i < Count)
    {
      this->Distances2[i] = distance2;
      this->Places[i] = place;
    }
  }

  void Add(const Neighbors& others)
  {
    for (int i = 0; i < Count && others.Distances2[i] < Infinity; ++i)
    {
      this->Add(others.Places[i], others.Distances2[i]);
    }
  }
};
using Lists = std::vector<Neighbors>; // of the samples

// Finite points in double precision, by coordinate.
struct Block
{
  static const vtkIdType Most = 1024;
  double Coordinates[3][Most];
  int Count = 0;

  template <typename T>
  Block(const T* coordinates, vtkIdType count)
  {
    for (vtkIdType i = 0; i < count; ++i)
    {
      const T* p = coordinates + 3 * i;
      const Place place = { static_cast<double>(p[0]), static_cast<double>(p[1]), static_cast<double>(p[2]) };
      for (int axis = 0; axis < 3; ++axis)
      {
        this->Coordinates[axis][this->Count] = place[axis];
      }
      this->Count += std::all_of(place.begin(), place.end(), [](double x) { return std::isfinite(x); });
    }
  }

  // Adds the points that are among the nearest.
  void AddTo(Neighbors& list, const Place& sample) const
  {
    double distances2[Most];
    const double farthest2 = list.Distances2.back();
    int near = 0;
    for (int i = 0; i < this->Count; ++i)
    {
      const double x = this->Coordinates[0][i] - sample[0], y = this->Coordinates[1][i] - sample[1],
                   z = this->Coordinates[2][i] - sample[2];
      distances2[i] = x * x + y * y + z * z;
      near += distances2[i] <= farthest2;
    }
    for (int i = 0; near > 0 && i < this->Count; ++i)
    {
      if (distances2[i] > 0 && distances2[i] <= list.Distances2.back())
      {
        list.Add({ this->Coordinates[0][i], this->Coordinates[1][i], this->Coordinates[2][i] }, distances2[i]);
      }
    }
  }
};

// Compares points with all samples, on all threads.
template <typename T>
Lists FindNearest(const T* coordinates, vtkIdType count, int threads, const std::vector<Place>& samples)
{
  const vtkIdType portion = (count / threads / Block::Most + 1) * Block::Most;
  const auto run = [&](vtkIdType begin)
  {
    Lists lists(samples.size());
    const vtkIdType end = std::min(begin + portion, count);
    for (; begin < end; begin += Block::Most)
    {
      const Block block(coordinates + 3 * begin, std::min(Block::Most + 0, end - begin));
      for (size_t n = 0; n < samples.size(); ++n)
      {
        block.AddTo(lists[n], samples[n]);
      }
    }
    return lists;
  };
  std::vector<std::future<Lists>> others; // where the system has no thread left, get() works
  for (vtkIdType begin = portion; begin < count; begin += portion)
  {
    others.push_back(std::async(run, begin));
  }
  Lists all = run(0);
  for (auto& other : others)
  {
    const Lists more = other.get();
    for (size_t n = 0; n < samples.size(); ++n)
    {
      all[n].Add(more[n]);
    }
  }
  return all;
}

// Chooses finite points of all ranks, evenly spaced in their order: 1000, of more than 100,000 points fewer, at least 100.
template <typename T>
std::vector<Place> ChooseSamples(const Ranks& ranks, const T* coordinates, vtkIdType own)
{
  vtkIdType before = 0, count = 0;
  const std::vector<std::vector<vtkIdType>> counts = ranks.Share<vtkIdType>({ own });
  for (int rank = 0; rank < ranks.Count(); ++rank)
  {
    before += rank < ranks.Rank() ? counts[rank][0] : 0;
    count += counts[rank][0];
  }
  std::vector<double> mine;
  const vtkIdType most =
    std::min<vtkIdType>(count, std::max<vtkIdType>(100, std::min<vtkIdType>(1000, 100000000 / (count + 1))));
  for (vtkIdType n = 0; n < most; ++n)
  {
    const vtkIdType i = n * count / most - before;
    if (i >= 0 && i < own && Block(coordinates + 3 * i, 1).Count > 0)
    {
      mine.insert(mine.end(), coordinates + 3 * i, coordinates + 3 * i + 3);
    }
  }
  std::vector<Place> samples;
  for (const std::vector<double>& part : ranks.Share(mine))
  {
    for (size_t i = 0; i < part.size(); i += 3)
    {
      samples.push_back({ part[i], part[i + 1], part[i + 2] });
    }
  }
  return samples;
}

// Merges the lists of all ranks.
Lists MergeLists(const Ranks& ranks, const Lists& mine)
{
  Lists all(mine.size());
  const size_t size = Neighbors::Count * 4;
  std::vector<double> flat;
  for (const Neighbors& list : mine)
  {
    for (int i = 0; i < Neighbors::Count; ++i)
    {
      flat.insert(flat.end(), { list.Distances2[i], list.Places[i][0], list.Places[i][1], list.Places[i][2] });
    }
  }
  for (const std::vector<double>& part : ranks.Share(flat))
  {
    for (size_t i = 0; i < part.size(); i += 4)
    {
      if (part[i] < Infinity)
      {
        all[i / size].Add({ part[i + 1], part[i + 2], part[i + 3] }, part[i]);
      }
    }
  }
  return all;
}

// The median distance to the k-th neighbor.
double MedianDistance(const Lists& lists, int k)
{
  std::vector<double> distances2;
  for (const Neighbors& list : lists)
  {
    distances2.push_back(list.Distances2[k - 1]);
  }
  const auto middle = distances2.begin() + (distances2.size() - 1) / 2;
  std::nth_element(distances2.begin(), middle, distances2.end());
  return std::sqrt(*middle);
}

// The usual distance between points that are next to each other, see above.
double FindSpacing(const Lists& lists)
{
  const double first = MedianDistance(lists, 1), second = MedianDistance(lists, 2), third = MedianDistance(lists, 3),
               last = MedianDistance(lists, Neighbors::Count);
  if (!std::isfinite(last)) // of few places
  {
    return first;
  }
  const double ratio = last / third; // on lattices 1.4, 2 and 3
  const double factor = ratio < 1.75 ? std::sqrt(0.5) : ratio < 2.5 ? 1.0 / 2 : 1.0 / 6;
  const double even = std::max(second, factor * last); // dense lattices have 12 neighbors next to a point
  return even + 0.3 * (even - first);
}

template <typename T>
double FindRadiusOf(Ranks& ranks, const T* coordinates, vtkIdType own, int threads)
{
  const std::vector<Place> samples = ChooseSamples(ranks, coordinates, own);
  Lists mine;
  ranks.Together([&] { mine = FindNearest(coordinates, own, threads, samples); });
  const double spacing = samples.empty() ? 0.0 : FindSpacing(MergeLists(ranks, mine));
  return std::isfinite(spacing) ? spacing / 2 : 0.0;
}
}

double FindRadius(Ranks& ranks, vtkDataArray* positions, int threads)
{
  const vtkIdType own = positions->GetNumberOfTuples();
  switch (positions->GetDataType())
  {
    vtkTemplateMacro(
      return FindRadiusOf(ranks, static_cast<const VTK_TT*>(positions->GetVoidPointer(0)), own, threads));
  }
  return 0.0;
}
}
VTK_ABI_NAMESPACE_END
