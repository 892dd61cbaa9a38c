// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
// vtkContourFilter, accelerated: VTK's triangles and arrays, with names, types, components, roles, order and ranges; the same
// bytes where VTK's own code runs; the switch, reuse between executions, composite input, progress and abort.
#include "PMBTesting.h"

#include "vtkBitArray.h"
#include "vtkCellData.h"
#include "vtkCommand.h"
#include "vtkContourFilter.h"
#include "vtkDataArray.h"
#include "vtkEventForwarderCommand.h"
#include "vtkFieldData.h"
#include "vtkFloatArray.h"
#include "vtkIdTypeArray.h"
#include "vtkMultiBlockDataSet.h"
#include "vtkNew.h"
#include "vtkObjectFactory.h"
#include "vtkPMBContourAcceleration.h"
#include "vtkPointData.h"
#include "vtkPolyDataNormals.h"
#include "vtkStringArray.h"
#include "vtkTrivialProducer.h"
#include "vtkUniformGrid.h"
#include "vtkUnsignedCharArray.h"
#include "vtkVariant.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <future>
#include <set>
#include <thread>

using namespace pmbtest;

namespace
{
using Acceleration = vtkPMBContourAcceleration;
using Attributes = vtkDataSetAttributes;
using Set = std::function<void(vtkContourFilter*)>;

void Switch(bool on)
{
  on ? Acceleration::Enable() : Acceleration::Disable();
}

vtkIdType CountOf(vtkIdType (*counter)(), const std::function<void()>& action)
{
  const vtkIdType before = counter();
  action();
  return counter() - before;
}
vtkIdType RunsOf(const std::function<void()>& action)
{
  return CountOf(&Acceleration::GetNumberOfRuns, action);
}
vtkIdType BindsOf(const std::function<void()>& action)
{
  return CountOf(&Acceleration::GetNumberOfBinds, action);
}

// --- parity ---------------------------------------------------------------------------------------------------------

struct Outcome
{
  vtkSmartPointer<vtkPolyData> Mesh;
  vtkIdType Runs, Left; // accelerated, left to VTK
  int Errors;
};

Outcome Execute(vtkDataObject* input, const Set& set, bool accelerate)
{
  Switch(accelerate);
  vtkNew<vtkContourFilter> filter;
  const Messages messages(filter);
  filter->SetValue(0, 30.5);
  filter->SetValue(1, 20.5);
  set(filter);
  filter->SetInputDataObject(input);
  const vtkIdType left = Acceleration::GetNumberOfRunsLeftToVTK();
  const vtkIdType runs = RunsOf([&] { filter->Update(); });
  return { filter->GetOutput(), runs, Acceleration::GetNumberOfRunsLeftToVTK() - left, messages.Errors() };
}

// Type, name, names of components and role of each array, in order.
std::string Describe(vtkFieldData* data)
{
  std::ostringstream text;
  auto* attributes = Attributes::SafeDownCast(data);
  for (int i = 0; i < data->GetNumberOfArrays(); ++i)
  {
    vtkAbstractArray* array = data->GetAbstractArray(i);
    text << array->GetDataTypeAsString() << " '" << (array->GetName() ? array->GetName() : "(none)") << "' (";
    for (int c = 0; c < array->GetNumberOfComponents(); ++c)
    {
      text << (array->GetComponentName(c) ? array->GetComponentName(c) : "-") << " ";
    }
    text << ") as " << (attributes ? attributes->IsArrayAnAttribute(i) : -1) << "; ";
  }
  return text.str();
}

std::string Describe(vtkPolyData* mesh)
{
  std::ostringstream text;
  text << Describe(mesh->GetPointData()) << "cells: " << Describe(mesh->GetCellData())
       << "fields: " << Describe(mesh->GetFieldData())
       << "points: " << (mesh->GetPoints() ? mesh->GetPoints()->GetDataType() : -1)
       << ", bytes of an id: " << mesh->GetPolys()->GetConnectivityArray()->GetDataTypeSize();
  return text.str();
}

// Checks for the same surface and arrays, accelerated or not. VTK's own code may leave unused points, and joins those that
// coincide at samples.
void CheckParity(vtkDataObject* input, const Set& set, const std::string& what)
{
  const Outcome off = Execute(input, set, false), on = Execute(input, set, true);
  PMB_EQUAL(off.Runs + off.Left, 0, what + ": runs while it is off");
  PMB_CHECK(on.Runs == 1 && on.Left == 0, what << " is left to VTK: " << Acceleration::GetLastRunSummary());
  PMB_EQUAL(on.Errors, off.Errors, what + ": errors");
  PMB_EQUAL(on.Mesh->GetNumberOfPolys(), off.Mesh->GetNumberOfPolys(), what + ": triangles");
  const std::vector<vtkIdType> ids = TrianglesOf(off.Mesh);
  const auto used = static_cast<vtkIdType>(std::set<vtkIdType>(ids.begin(), ids.end()).size());
  PMB_EQUAL(on.Mesh->GetNumberOfPoints(), used, what + ": points");
  PMB_EQUAL(Describe(on.Mesh), Describe(off.Mesh), what + ": arrays");
  vtkDataArray *ours = on.Mesh->GetPointData()->GetScalars(), *theirs = off.Mesh->GetPointData()->GetScalars();
  PMB_CHECK(!ours || (ours->GetRange()[0] == theirs->GetRange()[0] && ours->GetRange()[1] == theirs->GetRange()[1]),
    what << ": scalars");
}

// Checks for the same bytes as VTK's, and the reason why VTK's code ran.
void CheckLeft(vtkDataObject* input, const Set& set, const std::string& what, const std::string& why)
{
  const Outcome off = Execute(input, set, false), on = Execute(input, set, true);
  PMB_CHECK(on.Runs == 0 && on.Left == 1 && Has(Acceleration::GetLastRunSummary(), why),
    what << ": " << on.Runs << " runs on PMB; " << Acceleration::GetLastRunSummary());
  PMB_EQUAL(on.Errors, off.Errors, what + ": errors");
  std::string difference;
  PMB_CHECK(SameBytes(on.Mesh, off.Mesh, difference), what << ": " << difference);
  PMB_EQUAL(Describe(on.Mesh), Describe(off.Mesh), what + ": arrays");
}

const Set AsItIs = [](vtkContourFilter*) {};
const struct
{
  const char* Name;
  Set Apply;
} AllSettings[] = {
  { "as it is", AsItIs },
  { "isovalues of samples", [](vtkContourFilter* filter) { filter->SetValue(1, 20); } },
  { "gradients", [](vtkContourFilter* filter) { filter->ComputeGradientsOn(); } },
  { "without scalars and normals",
    [](vtkContourFilter* filter)
    {
      filter->ComputeScalarsOff();
      filter->ComputeNormalsOff();
    } },
  { "by name", [](vtkContourFilter* filter) { filter->SetInputArrayToProcess(0, 0, 0, 0, "real"); } },
  { "out of range", [](vtkContourFilter* filter) { filter->GenerateValues(1, 99, 99); } },
  { "a scalar tree and a locator", // which VTK ignores for images too
    [](vtkContourFilter* filter)
    {
      filter->UseScalarTreeOn();
      filter->CreateDefaultLocator();
    } },
};

vtkSmartPointer<vtkImageData> Small(int type = VTK_SHORT)
{
  return MakeImage(9, 10, 11, type, Noise(7, 50));
}

void TestParity()
{
  for (int type : { VTK_SIGNED_CHAR, VTK_UNSIGNED_CHAR, VTK_SHORT, VTK_UNSIGNED_SHORT, VTK_INT, VTK_UNSIGNED_INT,
         VTK_LONG_LONG, VTK_UNSIGNED_LONG_LONG, VTK_FLOAT, VTK_DOUBLE })
  {
    auto image = Small(type);
    vtkPointData* points = image->GetPointData();
    points->AddArray(MakeArray(image, "real", VTK_DOUBLE, 1, 0, Noise(3, 60)));
    points->AddArray(MakeArray(image, "vectors", VTK_FLOAT, 3, 1, Distance(9, 4, 5)));
    points->SetActiveVectors("vectors");
    points->AddArray(MakeArray(image, "second", type, 2, 1, Noise(7, 50)));
    points->GetArray("second")->SetComponentName(0, "one");
    for (const auto& settings : AllSettings)
    {
      CheckParity(image, settings.Apply, std::string(vtkImageScalarTypeNameMacro(type)) + ", " + settings.Name);
    }
  }
  auto image = Small();
  image->GetPointData()->SetScalars(MakeArray(image, "second", VTK_FLOAT, 2, 1, Noise(7, 50)));
  CheckParity(
    image, [](vtkContourFilter* filter) { filter->SetArrayComponent(1); }, "a component");
  image = Small();
  image->SetOrigin(-3, 1e3, 0.1);
  image->SetSpacing(0.3, 2, 1e-3);
  image->SetExtent(-4, 4, 1000, 1009, 7, 17);
  CheckParity(image, AsItIs, "a frame");
}

// An array of 0 and 1 beside those of the data.
void AddOdd(vtkFieldData* data, vtkIdType count, vtkAbstractArray* prototype, const char* name, int role = -1)
{
  auto own = vtkSmartPointer<vtkAbstractArray>::Take(prototype->NewInstance());
  own->SetName(name);
  own->SetNumberOfTuples(count);
  for (vtkIdType n = 0; n < count; ++n)
  {
    own->SetVariantValue(n, vtkVariant(static_cast<int>(n % 2)));
  }
  const int index = data->AddArray(own);
  if (auto* attributes = role < 0 ? nullptr : Attributes::SafeDownCast(data))
  {
    attributes->SetActiveAttribute(index, role);
  }
}

// Odd arrays of points, cells and the field: the output has VTK's arrays. `Why`: the reason why VTK's own code ran.
void TestOddArrays()
{
  vtkNew<vtkIdTypeArray> ids;
  vtkNew<vtkStringArray> words;
  vtkNew<vtkBitArray> bits;
  vtkNew<vtkFloatArray> floats;
  const char* const besides = "another point array";
  const struct
  {
    vtkAbstractArray* Prototype;
    const char* Name;
    int Role;
    const char* Why;
  } odd[] = { { ids, "gids", Attributes::GLOBALIDS, besides }, { ids, "pids", Attributes::PEDIGREEIDS, besides },
    { ids, "ids", -1, "" }, { words, "words", -1, besides }, { bits, "bits", -1, besides },
    { floats, "Normals", -1, "already" }, { floats, "Gradients", -1, "already" }, { floats, nullptr, -1, "" } };
  const Set gradients = [](vtkContourFilter* filter) { filter->ComputeGradientsOn(); };
  for (const auto& one : odd)
  {
    const std::string name = one.Name ? one.Name : "no name";
    auto image = Small(), onCells = Small();
    AddOdd(image->GetPointData(), image->GetNumberOfPoints(), one.Prototype, one.Name, one.Role);
    AddOdd(onCells->GetCellData(), onCells->GetNumberOfCells(), one.Prototype, one.Name, one.Role);
    AddOdd(onCells->GetFieldData(), 3, one.Prototype, one.Name);
    CheckParity(onCells, gradients, name + " of the cells and the field");
    *one.Why ? CheckLeft(image, gradients, name, one.Why) : CheckParity(image, gradients, name);
  }
}

// Input and settings that are VTK's own code's.
void TestLeftToVTK()
{
  auto image = MakeImage(11, 11, 11, VTK_FLOAT, Noise(7, 50)), flat = MakeImage(12, 13, 1, VTK_FLOAT, Noise(7, 50));
  auto hidden = Small(), unfit = Small(), turned = Small(), bits = Small(), named = Small();
  hidden->AllocateCellGhostArray()->SetValue(200, Attributes::HIDDENCELL);
  unfit->AllocateCellGhostArray()->SetNumberOfTuples(unfit->GetNumberOfCells() + 1); // VTK passes such flags on
  turned->SetDirectionMatrix(0.6, -0.8, 0, 0.8, 0.6, 0, 0, 0, 1);
  vtkNew<vtkBitArray> prototype;
  AddOdd(bits->GetPointData(), bits->GetNumberOfPoints(), prototype, "bits");
  named->GetPointData()->GetScalars()->SetName("Normals");
  vtkNew<vtkUniformGrid> uniform;
  uniform->DeepCopy(image);
  vtkNew<vtkPolyData> cells;
  CheckLeft(cells, AsItIs, "no image", "the input is vtkPolyData");
  CheckLeft(uniform, AsItIs, "uniform grid", "the input is vtkUniformGrid");
  CheckLeft(flat, AsItIs, "2D image", "not three-dimensional");
  CheckLeft(hidden, AsItIs, "hidden cell", "hidden");
  CheckLeft(unfit, AsItIs, "flags that do not fit", "does not fit the image");
  CheckLeft(turned, AsItIs, "a direction", "direction");
  CheckLeft(named, AsItIs, "scalars of that name", "already");
  CheckLeft(
    image, [](vtkContourFilter* filter) { filter->GenerateTrianglesOff(); }, "polygons", "GenerateTriangles");
  CheckLeft(
    image, [](vtkContourFilter* filter) { filter->SetValue(0, std::nan("")); }, "isovalue NaN", "finite");
  CheckLeft(
    image, [](vtkContourFilter* filter) { filter->SetNumberOfContours(0); }, "no isovalue", "no isovalue");
  CheckLeft(
    image, [](vtkContourFilter* filter) { filter->SetArrayComponent(3); }, "no component", "component");
  CheckLeft(
    image, [](vtkContourFilter* filter) { filter->SetInputArrayToProcess(0, 0, 0, 0, "none"); }, "no array",
    "no such array");
  CheckLeft(
    bits, [](vtkContourFilter* filter) { filter->SetInputArrayToProcess(0, 0, 0, 0, "bits"); }, "bits", "holds bits");
}

// More data than was requested: VTK's filters contour only the requested part.
void TestPartAskedFor(vtkImageData* image)
{
  vtkSmartPointer<vtkPolyData> meshes[2];
  for (int on = 0; on < 2; ++on)
  {
    Switch(on != 0);
    vtkNew<vtkTrivialProducer> producer;
    producer->SetOutput(image);
    producer->SetWholeExtent(3, 12, 0, 29, 5, 29);
    vtkNew<vtkContourFilter> filter;
    filter->SetInputConnection(producer->GetOutputPort());
    filter->SetValue(0, 0.1);
    filter->Update();
    meshes[on] = filter->GetOutput();
  }
  std::string difference;
  PMB_CHECK(
    meshes[0]->GetNumberOfPolys() > 0 && SameBytes(meshes[0], meshes[1], difference), "a part: " << difference);
}

// --- the switch -----------------------------------------------------------------------------------------------------

class OwnContour : public vtkContourFilter
{
public:
  static OwnContour* New();
  vtkTypeMacro(OwnContour, vtkContourFilter);
};
vtkStandardNewMacro(OwnContour);

// Filters from before the first Enable() of a process, subclasses, and a filter that exists while the switch changes: it and those
// downstream execute again.
void TestSwitch(vtkImageData* image)
{
  PMB_CHECK(!Acceleration::IsEnabled(), "on to begin with");
  vtkNew<vtkContourFilter> old;
  Switch(true);
  PMB_CHECK(Acceleration::IsEnabled(), "it stays off");
  vtkNew<OwnContour> own;
  for (vtkContourFilter* never : { old.Get(), static_cast<vtkContourFilter*>(own.Get()) })
  {
    never->SetInputData(image);
    never->SetValue(0, 0.2);
    PMB_EQUAL(RunsOf([&] { never->Update(); }), 0, "runs of an old filter or a subclass");
    PMB_CHECK(never->GetOutput()->GetNumberOfPolys() > 0, "it works as ever");
  }
  vtkNew<vtkContourFilter> filter;
  vtkNew<vtkPolyDataNormals> next;
  filter->SetInputData(image);
  filter->SetValue(0, 0.1);
  next->SetInputConnection(filter->GetOutputPort());
  PMB_EQUAL(filter->GetClassName(), std::string("vtkContourFilter"), "name of the class");
  vtkNew<vtkPolyData> meshes[2]; // off, on
  for (int n = 0; n < 4; ++n)
  {
    const bool on = n % 2 == 0;
    Switch(on);
    PMB_EQUAL(RunsOf([&] { next->Update(); }), on, "runs, on, off, on, off");
    PMB_EQUAL(RunsOf([&] { next->Update(); }), 0, "runs without a change");
    std::string difference;
    PMB_CHECK(n < 2 || SameBytes(meshes[on], filter->GetOutput(), difference), "switched back: " << difference);
    meshes[on]->DeepCopy(filter->GetOutput());
  }
  std::string difference;
  PMB_CHECK(!SameBytes(meshes[0], meshes[1], difference), "VTK's own mesh has the same bytes");
  PMB_EQUAL(meshes[1]->GetNumberOfPolys(), meshes[0]->GetNumberOfPolys(), "triangles");
}

// The filter keeps the volume's summary for the next isovalue, also without observers of start and end. It makes a new one after
// Modified() on the filter, as code that writes in place relies on.
void TestKept()
{
  Switch(true);
  auto image = MakeImage(30, 30, 30, VTK_FLOAT, Distance(5, 5, 5));
  auto other = MakeImage(30, 30, 30, VTK_FLOAT, Distance(24, 24, 24));
  vtkNew<vtkContourFilter> filter;
  filter->SetInputData(image);
  const auto update = [&](double isovalue)
  {
    return BindsOf(
      [&]
      {
        filter->SetValue(0, isovalue);
        filter->Update();
      });
  };
  PMB_EQUAL(update(3.4), 1, "volumes read");
  PMB_EQUAL(update(3.6), 0, "volumes read for another isovalue");
  filter->RemoveAllObservers();
  PMB_EQUAL(update(3.5), 0, "volumes read without observers");
  std::copy_n(static_cast<float*>(other->GetScalarPointer()), image->GetNumberOfPoints(),
    static_cast<float*>(image->GetScalarPointer()));
  filter->Modified();
  PMB_EQUAL(update(3.5), 1, "volumes read after a change in place");
  PMB_EQUAL(filter->GetOutput()->GetNumberOfPolys(), FlyingEdges(other, 3.5)->GetNumberOfPolys(),
    "triangles after a change in place");
}

// Like ParaView's Contour: makes a vtkContourFilter for each execution and forwards its progress.
class Wrapper : public vtkContourFilter
{
public:
  static Wrapper* New();
  vtkTypeMacro(Wrapper, vtkContourFilter);

protected:
  int RequestData(vtkInformation*, vtkInformationVector** inputVector, vtkInformationVector* outputVector) override
  {
    vtkNew<vtkContourFilter> instance;
    instance->SetValue(0, this->GetValue(0));
    vtkNew<vtkEventForwarderCommand> forwarder;
    forwarder->SetTarget(this);
    instance->AddObserver(vtkCommand::ProgressEvent, forwarder);
    instance->SetInputData(vtkImageData::GetData(inputVector[0]));
    instance->Update();
    vtkPolyData::GetData(outputVector)->ShallowCopy(instance->GetOutput());
    return 1;
  }
};
vtkStandardNewMacro(Wrapper);

class Watcher : public vtkCommand
{
public:
  static Watcher* New() { return new Watcher; }
  void Execute(vtkObject* caller, unsigned long, void*) override
  {
    auto* algorithm = static_cast<vtkAlgorithm*>(caller);
    ++this->Events;
    this->Falls += algorithm->GetProgress() < this->Last;
    this->Last = algorithm->GetProgress();
    algorithm->SetAbortExecute(this->Abort);
  }
  bool Abort = false;
  int Events = 0, Falls = 0;
  double Last = -1;
};

// The user's filter reports progress; after an abort its output is empty, and the next execution is complete and reads no volume.
void TestProgress(vtkContourFilter* filter, const std::string& what)
{
  Switch(true);
  filter->SetInputData(MakeImage(60, 60, 60, VTK_FLOAT, Gyroid(9)));
  filter->SetValue(0, 0.1);
  vtkNew<Watcher> watcher;
  const unsigned long tag = filter->AddObserver(vtkCommand::ProgressEvent, watcher);
  PMB_EQUAL(RunsOf([&] { filter->Update(); }), 1, what + ": runs");
  PMB_CHECK(watcher->Events > 3 && watcher->Falls == 0,
    what << ": " << watcher->Events << " events of progress, of which " << watcher->Falls << " fell");
  const vtkIdType triangles = filter->GetOutput()->GetNumberOfPolys();
  PMB_CHECK(triangles > 0 && filter->GetOutput()->GetPointData()->GetScalars(), what + ": a surface with scalars");
  watcher->Abort = true;
  filter->Modified();
  filter->Update();
  PMB_EQUAL(filter->GetOutput()->GetNumberOfPolys(), 0, what + ": triangles after an abort");
  filter->RemoveObserver(tag);
  filter->SetAbortExecute(0);
  filter->Modified();
  filter->Update();
  PMB_EQUAL(filter->GetOutput()->GetNumberOfPolys(), triangles, what + ": triangles after that");
  filter->SetValue(0, 0.3);
  PMB_EQUAL(BindsOf([&] { filter->Update(); }), 0, what + ": volumes read for another isovalue");
  PMB_CHECK(Has(Acceleration::GetLastRunSummary(filter), "vtkContourFilter, accelerated: "), what + ": its summary");
}

void TestComposite()
{
  vtkNew<vtkMultiBlockDataSet> blocks;
  blocks->SetBlock(0, MakeImage(42, 42, 42, VTK_FLOAT, Gyroid(9))); // large enough for a summary of its own
  blocks->SetBlock(1, MakeImage(41, 43, 42, VTK_FLOAT, Gyroid(12)));
  blocks->SetBlock(2, MakeImage(20, 20, 1, VTK_FLOAT, Gyroid(12)));
  vtkNew<vtkContourFilter> filter;
  filter->SetInputDataObject(blocks);
  filter->SetValue(0, 0.1);
  const auto cells = [&]
  {
    filter->Update();
    std::string text;
    auto* output = vtkMultiBlockDataSet::SafeDownCast(filter->GetOutputDataObject(0));
    for (unsigned i = 0; output && i < output->GetNumberOfBlocks(); ++i)
    {
      auto* mesh = vtkPolyData::SafeDownCast(output->GetBlock(i));
      text += std::to_string(mesh && mesh->GetNumberOfCells() > 0 ? mesh->GetNumberOfCells() : -1) + " ";
    }
    return text;
  };
  Switch(false);
  const std::string off = cells();
  PMB_CHECK(!off.empty() && !Has(off, "-1"), "surfaces and lines in the blocks: " << off);
  Switch(true);
  PMB_EQUAL(RunsOf([&] { PMB_EQUAL(cells(), off, "cells of each block"); }), 2, "runs, one for each image");
  filter->SetValue(0, 0.2);
  PMB_EQUAL(BindsOf(cells), 0, "volumes read for another isovalue");
}

// Threads create and delete filters while the switch changes.
void TestThreads()
{
  const auto image = MakeImage(20, 20, 20, VTK_FLOAT, Gyroid(9));
  const vtkIdType expected = FlyingEdges(image, 0.1)->GetNumberOfPolys();
  std::atomic<bool> go{ true };
  const auto work = [&]
  {
    vtkNew<vtkImageData> own;
    own->DeepCopy(image);
    int wrong = 0;
    while (go)
    {
      vtkNew<vtkContourFilter> filter;
      filter->SetInputData(own);
      filter->SetValue(0, 0.1);
      filter->Update();
      wrong += filter->GetOutput()->GetNumberOfPolys() != expected;
    }
    return wrong;
  };
  std::future<int> threads[] = { std::async(std::launch::async, work), std::async(std::launch::async, work) };
  for (int i = 0; i < 200; ++i)
  {
    Switch(i % 2 == 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  go = false;
  PMB_EQUAL(threads[0].get() + threads[1].get(), 0, "wrong meshes");
}
}

int TestPMBContourAcceleration(int, char*[])
{
  auto image = MakeImage(30, 30, 30, VTK_FLOAT, Gyroid(9));
  TestSwitch(image); // first: nothing is on yet
  TestParity();
  TestOddArrays();
  TestLeftToVTK();
  TestPartAskedFor(image);
  TestKept();
  vtkNew<vtkContourFilter> plain;
  vtkNew<Wrapper> wrapper;
  TestProgress(plain, "vtkContourFilter");
  TestProgress(wrapper, "a filter with a vtkContourFilter in it");
  TestComposite();
  TestThreads();
  return Result();
}
