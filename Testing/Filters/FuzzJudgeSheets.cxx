// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "FuzzJudge.h"

#include "PMBTesting.h"

#include "vtkCellArray.h"
#include "vtkDataArray.h"
#include "vtkNew.h"
#include "vtkPointData.h"
#include "vtkPoints.h"

#include <algorithm>
#include <map>
#include <set>

namespace fuzz
{
namespace
{
using Edge = std::pair<int64_t, int64_t>;

// How many triangles have an edge in this direction.
std::map<Edge, int> CountEdges(const std::vector<int64_t>& ids)
{
  std::map<Edge, int> edges;
  for (size_t n = 0; n < ids.size(); ++n)
  {
    ++edges[{ ids[n], ids[n - n % 3 + (n + 1) % 3] }];
  }
  return edges;
}

// How many fans of triangles that hang together by edges a point has, for each point.
std::vector<int> CountFans(const std::vector<int64_t>& ids, size_t points)
{
  std::vector<std::vector<std::set<int64_t>>> fans(points); // a fan: the other points of its triangles
  for (size_t n = 0; n < ids.size(); ++n)
  {
    std::set<int64_t> joined = { ids[n - n % 3 + (n + 1) % 3], ids[n - n % 3 + (n + 2) % 3] };
    const std::set<int64_t> two = joined;
    std::vector<std::set<int64_t>> apart;
    for (const std::set<int64_t>& fan : fans[ids[n]])
    {
      const bool meets = std::any_of(two.begin(), two.end(), [&](int64_t id) { return fan.count(id) != 0; });
      if (meets)
      {
        joined.insert(fan.begin(), fan.end());
      }
      else
      {
        apart.push_back(fan);
      }
    }
    apart.push_back(joined);
    fans[ids[n]] = apart;
  }
  std::vector<int> counts;
  for (const auto& some : fans)
  {
    counts.push_back(static_cast<int>(some.size()));
  }
  return counts;
}

void JudgeManifold(const std::vector<int64_t>& ids, size_t points, Report& report)
{
  for (const auto& edge : CountEdges(ids))
  {
    FUZZ_CHECK(report, edge.second == 1,
      "the edge " << edge.first.first << "-" << edge.first.second << " has " << edge.second << " triangles");
  }
  const std::vector<int> fans = CountFans(ids, points);
  for (size_t n = 0; n < points; ++n)
  {
    FUZZ_CHECK(report, fans[n] == 1, "point " << n << " has " << fans[n] << " fans");
  }
}

// Where no edge has two triangles in one direction, there are as many points as fans: none more than a manifold needs.
void JudgeCopies(const Reference& joined, const std::vector<int64_t>& origins, Report& report)
{
  const std::vector<int> fans = CountFans(joined.Ids, joined.Points.size());
  std::vector<int> copies(joined.Points.size(), 0);
  std::vector<char> general(joined.Points.size(), 1);
  for (int64_t origin : origins)
  {
    ++copies[origin];
  }
  for (const auto& edge : CountEdges(joined.Ids))
  {
    general[edge.first.first] = general[edge.first.first] && edge.second == 1;
    general[edge.first.second] = general[edge.first.second] && edge.second == 1;
  }
  for (size_t n = 0; n < fans.size(); ++n)
  {
    FUZZ_CHECK(report, !general[n] || copies[n] == fans[n],
      "point " << n << " of the joined mesh has " << fans[n] << " fans and became " << copies[n] << " points");
  }
}

// Which point of the joined mesh each point of the output is, by the corners. Points of one isovalue: first those that the
// joined mesh has, then copies by what they are copies of. Empty: something else.
std::vector<int64_t> FindOrigins(
  const Reference& joined, const std::vector<int64_t>& ids, size_t points, Report& report)
{
  std::vector<int64_t> origins(points, -1);
  for (size_t n = 0; n < ids.size(); ++n)
  {
    const bool sound = ids[n] >= 0 && ids[n] < static_cast<int64_t>(points) &&
      (origins[ids[n]] < 0 || origins[ids[n]] == joined.Ids[n]);
    FUZZ_CHECK(report, sound, "corner " << n % 3 << " of triangle " << n / 3 << " is another's: " << ids[n]);
    if (!sound)
    {
      return {};
    }
    origins[ids[n]] = joined.Ids[n];
  }
  size_t at = 0;
  for (size_t part = 0; part + 1 < joined.FirstPoints.size(); ++part)
  {
    const auto first = static_cast<int64_t>(joined.FirstPoints[part]);
    const auto end = static_cast<int64_t>(joined.FirstPoints[part + 1]);
    for (int64_t own = first; own < end && at < points; ++own, ++at)
    {
      FUZZ_CHECK(report, origins[at] == own, "point " << at << " is " << origins[at] << ", expected " << own);
    }
    for (int64_t last = first; at < points && origins[at] >= first && origins[at] < end; ++at)
    {
      FUZZ_CHECK(report, origins[at] >= last, "the copy " << at << " of " << origins[at] << " comes after " << last);
      last = origins[at];
    }
  }
  FUZZ_CHECK(report, at == points, at << " points of " << points << " are in order");
  return origins;
}

void JudgeTuples(vtkDataArray* got, vtkDataArray* joined, const std::vector<int64_t>& origins, Report& report)
{
  const bool same = joined && got->GetDataType() == joined->GetDataType() &&
    got->GetNumberOfComponents() == joined->GetNumberOfComponents() &&
    got->GetNumberOfTuples() == static_cast<vtkIdType>(origins.size());
  FUZZ_CHECK(report, same, "type, width or size of an array of sheets");
  for (size_t n = 0; same && n < origins.size() && !report.IsFull(); ++n)
  {
    for (int c = 0; c < got->GetNumberOfComponents(); ++c)
    {
      const double a = got->GetComponent(static_cast<vtkIdType>(n), c), b = joined->GetComponent(origins[n], c);
      FUZZ_CHECK(report, a == b || (a != a && b != b),
        "'" << (got->GetName() ? got->GetName() : "") << "' at point " << n << " is " << a << ", expected " << b);
    }
  }
}
}

bool JudgeSheets(
  Reference& reference, const Settings& settings, vtkImageData* image, vtkPolyData* output, Report& report)
{
  const auto points = static_cast<size_t>(output->GetNumberOfPoints());
  const bool sized =
    output->GetNumberOfPolys() == static_cast<vtkIdType>(reference.Cells.size()) && points >= reference.Points.size();
  FUZZ_CHECK(report, sized,
    output->GetNumberOfPolys() << " triangles and " << points << " points, expected " << reference.Cells.size()
                               << " and at least " << reference.Points.size());
  if (!sized || points == 0)
  {
    return sized;
  }
  std::vector<int64_t> ids;
  for (vtkIdType n = 0; n < 3 * output->GetNumberOfPolys(); ++n)
  {
    ids.push_back(static_cast<int64_t>(output->GetPolys()->GetConnectivityArray()->GetComponent(n, 0)));
  }
  const std::vector<int64_t> origins = FindOrigins(reference, ids, points, report);
  if (origins.empty() || !report.Faults.empty())
  {
    return false;
  }
  JudgeManifold(ids, points, report);
  JudgeCopies(reference, origins, report);
  Settings other = settings;
  other.Remove = 1;
  other.Suggest = false;
  other.Device = vtkPMBContourFilter::CPU;
  vtkNew<vtkPMBContourFilter> filter;
  const pmbtest::Messages quiet(filter);
  filter->SetInputData(image);
  Apply(other, filter);
  filter->Update();
  vtkPolyData* joined = filter->GetOutput();
  JudgeTuples(output->GetPoints()->GetData(), joined->GetPoints()->GetData(), origins, report);
  for (int n = 0; n < output->GetPointData()->GetNumberOfArrays() && report.Faults.empty(); ++n)
  {
    JudgeTuples(output->GetPointData()->GetArray(n), joined->GetPointData()->GetArray(n), origins, report);
  }
  reference.Split(origins, ids);
  return report.Faults.empty();
}
}
