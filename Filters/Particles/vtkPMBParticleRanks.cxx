// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBParticleRanks.h"

#include "vtkCommunicator.h"
#include "vtkDoubleArray.h"
#include "vtkMultiProcessController.h"
#include "vtkPMBMemory.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <sstream>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMB
{
Ranks::Ranks(vtkMultiProcessController* controller)
  : Controller(controller)
{
}

int Ranks::Count() const
{
  return this->Controller ? this->Controller->GetNumberOfProcesses() : 1;
}

int Ranks::Rank() const
{
  return this->Controller ? this->Controller->GetLocalProcessId() : 0;
}

template <typename T>
std::vector<std::vector<T>> Ranks::Share(const std::vector<T>& mine) const
{
  if (!this->Controller)
  {
    return { mine };
  }
  const size_t count = this->Count();
  const vtkIdType length = static_cast<vtkIdType>(mine.size());
  std::vector<vtkIdType> lengths(count), begins(count);
  this->Controller->AllGather(&length, lengths.data(), 1);
  std::partial_sum(lengths.begin(), lengths.end() - 1, begins.begin() + 1);
  std::vector<T> all(begins.back() + lengths.back() + 1); // data() of none may be null
  const T none = T();
  this->Controller->AllGatherV(mine.empty() ? &none : mine.data(), all.data(), length, lengths.data(), begins.data());
  std::vector<std::vector<T>> shared;
  for (size_t rank = 0; rank < count; ++rank)
  {
    shared.emplace_back(all.begin() + begins[rank], all.begin() + begins[rank] + lengths[rank]);
  }
  return shared;
}

template <typename T>
void Ranks::Reduce(std::vector<T>& numbers, int operation) const
{
  const std::vector<T> mine = numbers;
  if (this->Controller)
  {
    this->Controller->AllReduce(mine.data(), numbers.data(), static_cast<vtkIdType>(mine.size()), operation);
  }
}

template void Ranks::Reduce(std::vector<double>&, int) const;
template void Ranks::Reduce(std::vector<vtkIdType>&, int) const;
template std::vector<std::vector<double>> Ranks::Share(const std::vector<double>&) const;
template std::vector<std::vector<vtkIdType>> Ranks::Share(const std::vector<vtkIdType>&) const;

void Ranks::ThrowWorst(const std::vector<std::vector<char>>& said) const
{
  bool aborted = false;
  for (const std::vector<char>& text : said)
  {
    const char letter = text.empty() ? ' ' : text.front();
    if (letter == 'F')
    {
      throw Failed{ std::string(text.begin() + 1, text.end()) };
    }
    if (letter == 'M')
    {
      throw std::bad_alloc();
    }
    aborted |= letter == 'A';
  }
  if (aborted)
  {
    throw Aborted();
  }
}

// ---- arrays ----

namespace
{
using Array = vtkSmartPointer<vtkDataArray>;
using Descriptions = std::vector<std::string>;

Array NewArray(int type, int components, const std::string& name)
{
  auto array = Array::Take(vtkDataArray::CreateDataArray(type));
  array->SetNumberOfComponents(components);
  array->SetName(name.c_str());
  return array;
}

// Ranks may have the same numbers in different types.
Array Widen(vtkDataArray* array)
{
  auto wide = vtkSmartPointer<vtkDoubleArray>::New();
  wide->DeepCopy(array);
  return wide;
}

// Descriptions of the arrays of a rank with points: a letter for the attribute that they are, and then, equal on all ranks, a
// letter for their use, type, components and name. Those of the numbers come first, then those that are passed, in their order.
Descriptions Describe(const Particles& particles)
{
  Descriptions list;
  const auto add = [&list](int attribute, char use, vtkDataArray* array, const std::string& name)
  {
    std::ostringstream text;
    text << static_cast<char>('b' + attribute) << use << ' ' << array->GetDataType() << ' '
         << array->GetNumberOfComponents() << ' ' << name;
    list.push_back(text.str());
  };
  for (int i = 0; i < Particles::NUMBERS; ++i)
  {
    if (particles.Numbers[i])
    {
      add(-1, static_cast<char>('0' + i), particles.Numbers[i], "");
    }
  }
  for (const Array& array : particles.Passed)
  {
    int index = -1;
    const char* name = array->GetName() ? array->GetName() : "";
    particles.Attributes->GetAbstractArray(name, index);
    add(index < 0 ? -1 : particles.Attributes->IsArrayAnAttribute(index), 'p', array, name);
  }
  return list;
}

Descriptions::const_iterator Find(const Descriptions& list, const std::string& text)
{
  return std::find_if(list.begin(), list.end(),
    [&text](const std::string& other)
    { return other.compare(1, std::string::npos, text, 1, std::string::npos) == 0; });
}

// The descriptions of each rank with points.
std::vector<Descriptions> ShareDescriptions(const Ranks& ranks, const Particles& particles)
{
  std::vector<char> joined;
  if (particles.Count() > 0)
  {
    joined.push_back('\0'); // also without an array
    for (const std::string& text : Describe(particles))
    {
      joined.insert(joined.end(), text.begin(), text.end());
      joined.push_back('\0');
    }
  }
  std::vector<Descriptions> lists;
  for (const std::vector<char>& list : ranks.Share(joined))
  {
    for (auto begin = list.begin(); begin != list.end();)
    {
      const auto end = std::find(begin, list.end(), '\0');
      if (begin == list.begin())
      {
        lists.emplace_back();
      }
      else
      {
        lists.back().emplace_back(begin, end);
      }
      begin = end + 1;
    }
  }
  return lists;
}

// Makes an array that other ranks have. Attributes gets one of its own: the other changes.
void AddDescribed(const std::string& description, Particles& particles)
{
  std::istringstream text(description);
  char attribute = 'a', use = ' ';
  int type = 0, components = 0;
  std::string name;
  text >> attribute >> use >> type >> components;
  std::getline(text.ignore(), name);
  const Array array = NewArray(type, components, name);
  if (use != 'p')
  {
    particles.Numbers[use - '0'] = array;
    return;
  }
  particles.Passed.push_back(array);
  particles.Attributes->AddArray(NewArray(type, components, name));
  if (attribute >= 'b')
  {
    particles.Attributes->SetActiveAttribute(name.c_str(), attribute - 'b');
  }
}

// Throws Failed if some of the ranks lack an array of numbers that others have.
void CheckNumbers(const std::vector<Descriptions>& lists)
{
  for (int i = 0; i < Particles::NUMBERS; ++i)
  {
    const auto count = std::count_if(lists.begin(), lists.end(),
      [i](const Descriptions& list)
      { return std::any_of(list.begin(), list.end(), [i](const std::string& text) { return text[1] == '0' + i; }); });
    if (count > 0 && count < static_cast<std::ptrdiff_t>(lists.size()))
    {
      throw Failed{ std::string("The array of ") + Particles::Names[i] +
        " is missing on some of the ranks that have points: add it on all ranks." };
    }
  }
}
}

void MatchArrays(Ranks& ranks, Particles& particles)
{
  ranks.Together(
    [&particles]
    {
      const vtkIdType points = particles.Count();
      particles.Positions = points > 0 ? Widen(particles.Positions) : NewArray(VTK_DOUBLE, 3, "");
      for (Array& array : particles.Numbers)
      {
        array = points > 0 && array ? Widen(array) : nullptr;
      }
    });
  const std::vector<Descriptions> lists = ShareDescriptions(ranks, particles);
  const Descriptions own = Describe(particles);
  const std::vector<Array> arrays = particles.Passed;
  const bool lacks = particles.Count() == 0;
  CheckNumbers(lists);
  particles.Passed.clear();
  if (lacks)
  {
    particles.Attributes->Initialize();
  }
  for (const std::string& text : lists.empty() ? Descriptions() : lists.front())
  {
    const bool isEverywhere = std::all_of(
      lists.begin(), lists.end(), [&text](const Descriptions& list) { return Find(list, text) != list.end(); });
    if (isEverywhere && lacks)
    {
      AddDescribed(text, particles);
    }
    else if (isEverywhere && text[1] == 'p')
    {
      particles.Passed.push_back(arrays[Find(own, text) - own.end() + arrays.size()]);
    }
  }
}

// ---- slabs ----

namespace
{
// The cell of each particle along z; NaN where the core leaves it out.
std::vector<double> FindCells(vtkDataArray* positions, double spacing)
{
  std::vector<double> cells;
  for (vtkIdType i = 0; i < positions->GetNumberOfTuples(); ++i)
  {
    double p[3];
    positions->GetTuple(i, p);
    const bool taken = pmb_particles_take(p, spacing) != 0;
    cells.push_back(taken ? std::floor(p[2] / spacing) : std::numeric_limits<double>::quiet_NaN());
  }
  return cells;
}
}

void CutSlabs(Ranks& ranks, const Particles& particles, pmb_particle_request& request)
{
  const double low = request.whole->low[2], high = request.whole->high[2];
  const int rank = ranks.Rank(), count = ranks.Count();
  std::vector<double> cells, edges{ low, high + 1 }; // the bins between edges are divided where many particles are
  std::vector<vtkIdType> total;
  ranks.Together([&] { cells = FindCells(particles.Positions, request.spacing); });
  cells.erase(std::remove_if(cells.begin(), cells.end(), [](double cell) { return std::isnan(cell); }), cells.end());
  for (size_t before = 0; before < edges.size() && low <= high;)
  {
    total.assign(edges.size(), 0);
    for (const double cell : cells)
    {
      ++total[std::upper_bound(edges.begin(), edges.end(), cell) - edges.begin() - 1];
    }
    ranks.Reduce(total, vtkCommunicator::SUM_OP);
    const vtkIdType most = std::accumulate(total.begin(), total.end(), vtkIdType(0)) / (64 * count);
    before = edges.size();
    for (size_t i = 0; i + 1 < before; ++i)
    {
      const double width = edges[i + 1] - edges[i], part = std::ceil(width / 256);
      for (double at = part; total[i] > most && at < width; at += part)
      {
        edges.push_back(edges[i] + at);
      }
    }
    std::sort(edges.begin(), edges.end());
  }
  const double all = static_cast<double>(std::accumulate(total.begin(), total.end(), vtkIdType(0)));
  std::vector<int64_t> cuts; // where the slab of each rank begins
  vtkIdType before = 0;
  for (size_t i = 0; i < total.size(); ++i)
  {
    while (static_cast<int>(cuts.size()) < count && before >= all * cuts.size() / count)
    {
      cuts.push_back(static_cast<int64_t>(edges[i]));
    }
    before += total[i];
  }
  cuts.resize(count, std::numeric_limits<int64_t>::max());
  request.z_begin = rank == 0 ? std::numeric_limits<int64_t>::min() : cuts[rank];
  request.z_end = rank + 1 == count ? std::numeric_limits<int64_t>::max() : cuts[rank + 1];
}

void Distribute(Ranks& ranks, Particles& particles, double spacing, double low, double high)
{
  std::vector<std::vector<vtkIdType>> wanted(ranks.Count());
  const std::vector<std::vector<double>> ranges = ranks.Share<double>({ low, high });
  ranks.Together(
    [&]
    {
      const std::vector<double> cells = FindCells(particles.Positions, spacing);
      for (size_t other = 0; other < ranges.size(); ++other)
      {
        for (size_t i = 0; i < cells.size(); ++i)
        {
          if (cells[i] >= ranges[other][0] && cells[i] <= ranges[other][1])
          {
            wanted[other].push_back(i);
          }
        }
      }
    });
  ranks.Exchange(particles, wanted);
}

// ---- exchange ----

namespace
{
// The bytes of some tuples.
void Pack(vtkDataArray* array, const std::vector<vtkIdType>& places, char* to)
{
  const size_t width = static_cast<size_t>(array->GetNumberOfComponents()) * array->GetDataTypeSize();
  const char* from = static_cast<const char*>(array->GetVoidPointer(0));
  for (const vtkIdType place : places)
  {
    to = std::copy_n(from + place * width, width, to);
  }
}
}

void Ranks::Exchange(Particles& particles, const std::vector<std::vector<vtkIdType>>& wanted)
{
  const int rank = this->Rank(), count = this->Count();
  std::vector<vtkIdType> sent(count), begins(count + 1, 0);
  std::transform(wanted.begin(), wanted.end(), sent.begin(), [](const auto& places) { return places.size(); });
  const std::vector<std::vector<vtkIdType>> counts = this->Share(sent);
  for (int other = 0; other < count; ++other)
  {
    begins[other + 1] = begins[other] + counts[other][rank];
  }
  const std::vector<Array*> list = particles.List();
  std::vector<Array> received;
  std::vector<char> packed;
  this->Together(
    [&]
    {
      for (Array* array : list)
      {
        const size_t width = static_cast<size_t>((*array)->GetNumberOfComponents()) * (*array)->GetDataTypeSize();
        received.push_back(NewLike(*array, begins.back(), nullptr, /*pinned=*/false));
        packed.resize(std::max<size_t>(packed.size(), width * *std::max_element(sent.begin(), sent.end()) + 1));
        Pack(*array, wanted[rank], static_cast<char*>(received.back()->GetVoidPointer(0)) + begins[rank] * width);
      }
    });
  // In each step pairs of ranks exchange, the lower one sends first: nobody waits in a circle.
  int steps = 1;
  while (steps < count)
  {
    steps *= 2;
  }
  for (int step = 1; step < steps; ++step)
  {
    const int other = rank ^ step;
    for (size_t i = 0; i < list.size() && other < count; ++i)
    {
      const size_t width = static_cast<size_t>((*list[i])->GetNumberOfComponents()) * (*list[i])->GetDataTypeSize();
      char* to = static_cast<char*>(received[i]->GetVoidPointer(0)) + begins[other] * width;
      const vtkIdType bytes = sent[other] * width, expected = counts[other][rank] * width;
      const int tag = 7301;
      Pack(*list[i], wanted[other], packed.data());
      for (const bool sends : { rank<other, rank> other })
      {
        if (sends && bytes > 0)
        {
          this->Controller->Send(packed.data(), bytes, other, tag);
        }
        else if (!sends && expected > 0)
        {
          this->Controller->Receive(to, expected, other, tag);
        }
      }
    }
  }
  for (size_t i = 0; i < list.size(); ++i)
  {
    *list[i] = received[i];
  }
}
}
VTK_ABI_NAMESPACE_END
