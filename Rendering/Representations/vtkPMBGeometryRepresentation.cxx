// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBGeometryRepresentation.h"

#include "vtkDataObjectTree.h"
#include "vtkDataObjectTreeRange.h"
#include "vtkInformation.h"
#include "vtkInformationVector.h"
#include "vtkObjectFactory.h"
#include "vtkPMBPolyDataMapper.h"
#include "vtkPMBPrivateMembers.h"
#include "vtkPVGeometryFilter.h"
#include "vtkPVRenderView.h"
#include "vtkPVSession.h"
#include "vtkPointData.h"
#include "vtkPolyData.h"
#include "vtkProcessModule.h"
#include "vtkProperty.h"

VTK_ABI_NAMESPACE_BEGIN

vtkStandardNewMacro(vtkPMBGeometryRepresentation);

namespace
{
// VTK keeps the bounds of the points that cells use, and has no call to set them. `ours`: the blocks come from a mesh with the
// filter's mark, of which other filters may have left out ghosts.
void SetUsedBounds(vtkDataObject* data, bool ours)
{
  using Options = vtk::DataObjectTreeOptions;
  auto* tree = vtkDataObjectTree::SafeDownCast(data);
  if (!tree) // nothing was delivered to this process
  {
    return;
  }
  for (vtkDataObject* block :
    vtk::Range(tree, Options::SkipEmptyNodes | Options::TraverseSubTree | Options::VisitOnlyLeaves))
  {
    auto* mesh = vtkPolyData::SafeDownCast(block);
    const bool isWhole = mesh && vtkPMBPolyDataMapper::HasTrianglesOfAllPoints(mesh);
    if (isWhole && vtkPMBPrivateMembers::Has("cell-bounds"))
    {
      vtkPMBPrivateMembers::CellBounds<vtkPolyData>::Set(mesh);
    }
    else if (mesh && !isWhole && ours && mesh->GetNumberOfPolys() > 0)
    {
      vtkPMBPolyDataMapper::MarkTriangles(mesh);
    }
  }
}

// Whether this process, and no other, draws what it makes.
bool DrawsAlone()
{
  auto* module = vtkProcessModule::GetProcessModule();
  auto* session = vtkPVSession::SafeDownCast(module->GetActiveSession());
  return session && session->HasProcessRole(vtkPVSession::CLIENT_AND_SERVERS) &&
    module->GetNumberOfLocalPartitions() == 1;
}
}

vtkPMBGeometryRepresentation::vtkPMBGeometryRepresentation()
{
  this->Mapper->Delete();
  auto* mapper = vtkPMBPolyDataMapper::New();
  mapper->SetProcessIdArrayName("vtkProcessId");
  mapper->SetCompositeIdArrayName("vtkCompositeIndex");
  this->Mapper = mapper;
  this->SetArrayIdNames(nullptr, nullptr);
  this->BackfaceMapper->Delete();
  this->BackfaceMapper = vtkPMBPolyDataMapper::New();
  this->SetupDefaults();
}

int vtkPMBGeometryRepresentation::RequestData(
  vtkInformation* request, vtkInformationVector** inputVector, vtkInformationVector* outputVector)
{
  auto* mesh =
    inputVector[0]->GetNumberOfInformationObjects() == 1 ? vtkPolyData::GetData(inputVector[0], 0) : nullptr;
  const bool ours = this->IsOurs = mesh && vtkPMBPolyDataMapper::HasTrianglesOfAllPoints(mesh);
  this->IsAlone = DrawsAlone();
  auto* filter = vtkPVGeometryFilter::SafeDownCast(this->GeometryFilter);
  // Without ghosts, which vtkPVGeometryFilter leaves out, the indices of cells and points stay.
  const bool same = ours && !mesh->GetCellGhostArray() && !mesh->GetPointGhostArray();
  filter->SetPassThroughCellIds(!same);
  filter->SetPassThroughPointIds(!same);
  const int done = this->Superclass::RequestData(request, inputVector, outputVector);
  SetUsedBounds(this->MultiBlockMaker->GetOutputDataObject(0), ours);
  return done;
}

// ParaView 6.1 finds the ranges of a tree's arrays in copies of its leaves, so it is given the one leaf, which has them.
vtkDataObject* vtkPMBGeometryRepresentation::GetRenderedDataObject(int port)
{
  vtkDataObject* data = this->Superclass::GetRenderedDataObject(port);
  auto* tree = this->IsOurs && this->IsAlone ? vtkDataObjectTree::SafeDownCast(data) : nullptr;
  const auto leaves = tree ? vtkCompositeDataSet::GetDataSets<vtkPolyData>(tree) : std::vector<vtkPolyData*>();
  if (leaves.size() != 1)
  {
    return data;
  }
  if (vtkPMBPrivateMembers::Has("array-ranges"))
  {
    vtkPMBPrivateMembers::ArrayRanges<vtkFieldData>::Set(leaves[0]->GetPointData());
  }
  return leaves[0];
}

void vtkPMBGeometryRepresentation::MakeLevelOfDetail(vtkInformation* inInfo, vtkInformation* outInfo)
{
  inInfo->Set(vtkPVRenderView::LOD_RESOLUTION(), this->Resolution);
  this->Superclass::ProcessViewRequest(vtkPVView::REQUEST_UPDATE_LOD(), inInfo, outInfo);
  if (auto* view = vtkPVView::SafeDownCast(this->GetView()))
  {
    unsigned int key[] = { this->GetUniqueIdentifier(), 0 };
    view->Deliver(1, 2, key);
  }
  this->Postpones = false;
}

int vtkPMBGeometryRepresentation::ProcessViewRequest(
  vtkInformationRequestKey* type, vtkInformation* inInfo, vtkInformation* outInfo)
{
  if (type == vtkPVView::REQUEST_UPDATE_LOD())
  {
    this->Postpones = this->IsOurs && this->IsAlone && !inInfo->Has(vtkPVRenderView::USE_OUTLINE_FOR_LOD());
    this->Resolution = inInfo->Get(vtkPVRenderView::LOD_RESOLUTION());
    if (this->Postpones)
    {
      return this->GetVisibility();
    }
  }
  const bool suppressed = this->SuppressLOD;
  auto* mapper = vtkPMBPolyDataMapper::SafeDownCast(this->Mapper);
  const bool quick = mapper->GetNumberOfDirectTriangles() > 0 && this->Property->GetOpacity() >= 1;
  const bool turns = type == vtkPVView::REQUEST_RENDER() && inInfo->Has(vtkPVRenderView::USE_LOD());
  if (this->Postpones && turns && !suppressed && !quick)
  {
    this->MakeLevelOfDetail(inInfo, outInfo);
  }
  this->SuppressLOD |= this->Postpones;
  const int done = this->Superclass::ProcessViewRequest(type, inInfo, outInfo);
  this->SuppressLOD = suppressed;
  if (done && type == vtkPVView::REQUEST_RENDER())
  {
    SetUsedBounds(this->Mapper->GetInputDataObject(0, 0), false); // a copy, if it was delivered
  }
  return done;
}
VTK_ABI_NAMESPACE_END
