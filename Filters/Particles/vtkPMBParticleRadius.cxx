// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
//
// The spacing of the points follows from the distances of about 1000 samples to their 12 nearest neighbors at other places: with
// random points as with lattices, the 12th is as far as the spacing times a factor of the dimension. The dimension follows from the
// third: scans are surfaces. So bonds of molecules and points that happen to be close do not count, duplicates neither. Where the
// first is closer than on a lattice, points are in disorder, and a somewhat larger spacing closes the gaps between them.
//
// Cells around the samples are marked in a small hash, and a pass over all points compares those in marked cells. While fewer than
// half of the samples find all neighbors within a cell's edge, those without them get larger cells.
#include "vtkPMBParticleRadius.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
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
  double most = 0.0;
  vtkIdType sum = 0, count = 0;
  for (vtkIdType i = 0; i < array->GetNumberOfTuples(); ++i)
  {
    const double value = array->GetComponent(i, 0);
    most = isGood(value) ? std::max(most, value) : most;
  }
  for (const std::vector<double>& other : ranks.Share<double>({ most }))
  {
    most = std::max(most, other[0]);
  }
  for (vtkIdType i = 0; i < array->GetNumberOfTuples(); ++i)
  {
    const double value = array->GetComponent(i, 0);
    sum += isGood(value) ? std::llround(value / most * scale) : 0;
    count += isGood(value);
  }
  vtkIdType total = 0, all = 0;
  for (const std::vector<vtkIdType>& other : ranks.Share<vtkIdType>({ sum, count }))
  {
    total += other[0];
    all += other[1];
  }
  return all > 0 ? most * (static_cast<double>(total) / scale / static_cast<double>(all)) : 0.0;
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

double Distance2(const Place& a, const Place& b)
{
  const double x = a[0] - b[0], y = a[1] - b[1], z = a[2] - b[2];
  return x * x + y * y + z * z;
}

// Points in one piece of memory.
template <typename T>
struct PointsOf
{
  const T* Coordinates;
  Place operator[](vtkIdType i) const
  {
    const T* p = this->Coordinates + 3 * i;
    return { static_cast<double>(p[0]), static_cast<double>(p[1]), static_cast<double>(p[2]) };
  }
};

bool IsFinite(const Place& p)
{
  return std::isfinite(p[0]) && std::isfinite(p[1]) && std::isfinite(p[2]);
}

// Some of the samples, by the cells in which a point may be their nearest.
class Cells
{
public:
  // wanted(n): whether sample n is one of them.
  template <typename Wanted>
  Cells(const std::vector<Place>& samples, double edge, const Wanted& wanted)
    : Samples(samples)
    , Scale(1 / edge)
    , Begins(Slots + 1)
    , Marks(Slots / 64)
  {
    std::vector<std::pair<uint32_t, uint32_t>> entries; // slot and sample
    for (size_t n = 0; n < samples.size(); ++n)
    {
      std::array<int64_t, 3> cell;
      for (int i = 0; i < 27 && wanted(n) && this->Find(samples[n], cell); ++i)
      {
        entries.emplace_back(Slot(cell[0] + i % 3 - 1, cell[1] + i / 3 % 3 - 1, cell[2] + i / 9 - 1), n);
      }
    }
    std::sort(entries.begin(), entries.end());
    entries.erase(std::unique(entries.begin(), entries.end()), entries.end());
    for (const auto& entry : entries)
    {
      ++this->Begins[entry.first + 1];
      this->Marks[entry.first / 64] |= uint64_t(1) << entry.first % 64;
      this->Listed.push_back(entry.second);
    }
    for (size_t slot = 0; slot < Slots; ++slot)
    {
      this->Begins[slot + 1] += this->Begins[slot];
    }
  }

  // Adds points of this range to the lists of the samples. Within an edge none is missed.
  template <typename Points>
  void Compare(const Points& points, vtkIdType begin, vtkIdType end, Lists& lists) const
  {
    for (vtkIdType i = begin; i < end; ++i)
    {
      const Place p = points[i];
      std::array<int64_t, 3> cell;
      if (!this->Find(p, cell))
      {
        continue;
      }
      const uint32_t slot = Slot(cell[0], cell[1], cell[2]);
      if (this->Marks[slot / 64] >> slot % 64 & 1)
      {
        for (uint32_t k = this->Begins[slot]; k < this->Begins[slot + 1]; ++k)
        {
          const uint32_t n = this->Listed[k];
          const double distance2 = Distance2(p, this->Samples[n]);
          if (distance2 > 0 && distance2 <= lists[n].Distances2.back())
          {
            lists[n].Add(p, distance2);
          }
        }
      }
    }
  }

private:
  static const size_t Slots = 1 << 17;

  // Returns false for a position that is not finite or too far away for a cell number.
  bool Find(const Place& p, std::array<int64_t, 3>& cell) const
  {
    for (int axis = 0; axis < 3; ++axis)
    {
      const double place = p[axis] * this->Scale;
      if (!(std::abs(place) < 0x1p62))
      {
        return false;
      }
      cell[axis] = static_cast<int64_t>(place) - (place < static_cast<double>(static_cast<int64_t>(place)));
    }
    return true;
  }

  // Several cells may share a slot; this only costs comparisons.
  static uint32_t Slot(int64_t x, int64_t y, int64_t z)
  {
    uint64_t hash = static_cast<uint64_t>(x) * 0x9e3779b97f4a7c15u;
    hash = (hash ^ hash >> 32 ^ static_cast<uint64_t>(y)) * 0xbf58476d1ce4e5b9u;
    hash = (hash ^ hash >> 32 ^ static_cast<uint64_t>(z)) * 0x94d049bb133111ebu;
    return static_cast<uint32_t>(hash >> 47);
  }

  const std::vector<Place>& Samples;
  double Scale;
  std::vector<uint32_t> Begins, Listed;
  std::vector<uint64_t> Marks;
};

// Calls work(begin, end, lists) for parts of the points, on all threads; returns the lists of all.
template <typename Work>
Lists FindNearest(vtkIdType count, int threads, size_t samples, const Work& work)
{
  const vtkIdType portion = std::max<vtkIdType>(count / threads + 1, 1 << 15);
  const auto run = [&](vtkIdType begin)
  {
    Lists lists(samples);
    work(begin, std::min(begin + portion, count), lists);
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
    for (size_t n = 0; n < samples; ++n)
    {
      all[n].Add(more[n]);
    }
  }
  return all;
}

// Chooses about 1000 finite points of all ranks, evenly spaced in their order, and counts all points.
template <typename Points>
std::vector<Place> ChooseSamples(const Ranks& ranks, const Points& points, vtkIdType own, vtkIdType& count)
{
  vtkIdType before = 0;
  const std::vector<std::vector<vtkIdType>> counts = ranks.Share<vtkIdType>({ own });
  count = 0;
  for (int rank = 0; rank < ranks.Count(); ++rank)
  {
    before += rank < ranks.Rank() ? counts[rank][0] : 0;
    count += counts[rank][0];
  }
  std::vector<double> mine;
  const vtkIdType most = std::min<vtkIdType>(count, 1000);
  for (vtkIdType n = 0; n < most; ++n)
  {
    const vtkIdType i = n * count / most - before;
    if (i >= 0 && i < own && IsFinite(points[i]))
    {
      const Place p = points[i];
      mine.insert(mine.end(), p.begin(), p.end());
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

// Guesses an edge of cells with which most samples of an even cloud find a neighbor. 0: all samples are in one place.
double GuessEdge(const std::vector<Place>& samples, vtkIdType count)
{
  std::vector<double> distances2;
  for (size_t n = 0; n < samples.size(); n += 1 + samples.size() / 100)
  {
    double least = Infinity;
    for (const Place& other : samples)
    {
      const double distance2 = Distance2(samples[n], other);
      least = distance2 > 0 ? std::min(least, distance2) : least;
    }
    distances2.push_back(least);
  }
  std::sort(distances2.begin(), distances2.end());
  const double low2 = distances2.empty() ? Infinity : distances2[distances2.size() / 10]; // where points are dense
  return std::isfinite(low2)
    ? 3 * std::sqrt(low2) * std::cbrt(static_cast<double>(samples.size()) / static_cast<double>(count))
    : 0.0;
}

// Shares the lists of all ranks.
void MergeLists(const Ranks& ranks, const Lists& mine, Lists& all)
{
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

template <typename Points>
double FindRadiusOf(Ranks& ranks, const Points& points, vtkIdType own, int threads)
{
  vtkIdType count = 0;
  std::vector<Place> samples = ChooseSamples(ranks, points, own, count);
  std::sort(samples.begin(), samples.end()); // equal ones stand together
  Lists lists(samples.size());
  const auto isSame = [&samples](size_t n) { return n > 0 && samples[n] == samples[n - 1]; };
  double before = 0.0, widest2 = 0.0; // a bound of the distances between samples
  for (const Place& sample : samples)
  {
    widest2 = std::max(widest2, 4 * Distance2(sample, samples.front()));
  }
  for (double edge = GuessEdge(samples, count); edge > 0; edge *= 4)
  {
    Lists mine;
    ranks.Together(
      [&]
      {
        const Cells cells(
          samples, edge, [&](size_t n) { return lists[n].Distances2.back() > before * before && !isSame(n); });
        mine = FindNearest(own, threads, samples.size(),
          [&](vtkIdType begin, vtkIdType end, Lists& part) { cells.Compare(points, begin, end, part); });
      });
    MergeLists(ranks, mine, lists);
    for (size_t n = 0; n < samples.size(); ++n)
    {
      lists[n] = isSame(n) ? lists[n - 1] : lists[n];
    }
    if (MedianDistance(lists, Neighbors::Count) <= edge || edge * edge > 16 * widest2)
    {
      const double spacing = FindSpacing(lists);
      return std::isfinite(spacing) ? spacing / 2 : 0.0;
    }
    before = edge;
  }
  return 0.0;
}
}

double FindRadius(Ranks& ranks, vtkDataArray* positions, int threads)
{
  const vtkIdType own = positions->GetNumberOfTuples();
  switch (positions->GetDataType())
  {
    vtkTemplateMacro(return FindRadiusOf(
      ranks, PointsOf<VTK_TT>{ static_cast<const VTK_TT*>(positions->GetVoidPointer(0)) }, own, threads));
  }
  return 0.0;
}
}
VTK_ABI_NAMESPACE_END
