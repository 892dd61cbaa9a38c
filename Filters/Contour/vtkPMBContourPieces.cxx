// SPDX-FileCopyrightText: Copyright (c) the PMB Contour authors
// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBContourPieces.h"

#include "vtkCallbackCommand.h"
#include "vtkCellData.h"
#include "vtkExecutive.h"
#include "vtkNew.h"
#include "vtkObjectFactory.h"
#include "vtkPMBContourSlabs.h"
#include "vtkPMBProgress.h"
#include "vtkPointData.h"
#include "vtkPolyData.h"
#include "vtkXMLPolyDataWriter.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>
#include <utility>

VTK_ABI_NAMESPACE_BEGIN
namespace vtkPMB
{
namespace
{
// VTK's writer, into a stream of ours: we stop it, and see what fails, by the stream.
class PieceWriter : public vtkXMLPolyDataWriter
{
public:
  static PieceWriter* New();
  vtkTypeMacro(PieceWriter, vtkXMLPolyDataWriter);

  // Writes a .vtp. If the filter is told to stop, the stream fails.
  void WriteTo(std::ostream& stream, vtkPolyData* mesh, vtkPMBContourFilter* filter)
  {
    std::pair<std::ostream&, vtkPMBContourFilter*> data(stream, filter);
    vtkNew<vtkCallbackCommand> look, ignore;
    look->SetClientData(&data);
    look->SetCallback(
      [](vtkObject*, unsigned long, void* of, void*)
      {
        const auto& own = *static_cast<decltype(data)*>(of);
        own.second->UpdateProgress(1.0); // of the slab; observers may tell the filter to stop
        own.first.setstate(own.second->CheckAbort() ? std::ios::failbit : std::ios::goodbit);
      });
    this->AddObserver(vtkCommand::ProgressEvent, look);
    this->AddObserver(vtkCommand::ErrorEvent, ignore);
    this->GetExecutive()->AddObserver(vtkCommand::ErrorEvent, ignore);
    this->Stream = &stream;
    this->SetDataModeToAppended();
    this->EncodeAppendedDataOff();
    this->SetCompressorTypeToNone();
    this->SetHeaderTypeToUInt64();
    this->SetInputData(mesh);
    this->Write();
    this->Stream = nullptr;
  }

  // Returns the lines of a .pvtp about the mesh's arrays.
  std::string Describe(vtkPolyData* mesh)
  {
    std::ostringstream text;
    this->Stream = &text;
    this->WritePPointData(mesh->GetPointData(), vtkIndent(4));
    this->WritePCellData(mesh->GetCellData(), vtkIndent(4));
    this->WritePPoints(mesh->GetPoints(), vtkIndent(4));
    this->Stream = nullptr;
    return text.str();
  }
};
vtkStandardNewMacro(PieceWriter);

// The name of a file while it is written.
std::filesystem::path Part(const std::filesystem::path& file)
{
  return file.string() + ".part";
}

// A name as XML writes it.
std::string Escaped(const std::string& name)
{
  std::string text;
  for (const char c : name)
  {
    text += c == '&' ? "&amp;" : c == '<' ? "&lt;" : c == '"' ? "&quot;" : std::string(1, c);
  }
  return text;
}

// Gives a file its name if all of it was written.
void Complete(const std::ofstream& written, const std::filesystem::path& file)
{
  std::error_code error(errno, std::generic_category()); // if the stream has failed
  if (!written.fail())
  {
    std::filesystem::rename(Part(file), file, error);
  }
  if (written.fail() || error)
  {
    throw Failed{ "The pieces of the surface cannot be written: " + file.string() + ": " + error.message() +
      ". Free space on that disk, or change PiecesFileName (in ParaView: Write Pieces). There is no surface." };
  }
}
}

Pieces::Pieces(vtkPMBContourFilter* filter)
  : Filter(filter)
  , Name(filter->GetPiecesFileName())
{
  if (this->Name.extension() == ".pvtp")
  {
    this->Name.replace_extension();
  }
  if (this->AreWanted())
  {
    this->RemoveEarlier();
  }
}

Pieces::~Pieces()
{
  std::error_code ignored;
  for (const auto& file : this->Files)
  {
    std::filesystem::remove(file.second, ignored);
    std::filesystem::remove(Part(file.second), ignored);
  }
}

std::filesystem::path Pieces::File(size_t number) const
{
  return this->Name.string() + "_" + std::to_string(number) + ".vtp";
}

void Pieces::RemoveEarlier() const
{
  std::error_code ignored;
  const std::filesystem::path list = this->Name.string() + ".pvtp";
  std::ifstream stream(list);
  const std::string text{ std::istreambuf_iterator<char>(stream), {} };
  const auto isListed = [&](size_t number)
  { return text.find("Source=\"" + Escaped(this->File(number).filename().string()) + "\"") != std::string::npos; };
  for (size_t number = 0; isListed(number); ++number)
  {
    std::filesystem::remove(this->File(number), ignored);
  }
  std::filesystem::remove(list, ignored);
}

void Pieces::Write(size_t isovalue, vtkPolyData* mesh)
{
  if (mesh->GetNumberOfPolys() == 0)
  {
    return;
  }
  const std::filesystem::path file = this->File(this->Files.size());
  this->Files.emplace(isovalue, file);
  vtkNew<PieceWriter> writer;
  const std::string arrays = writer->Describe(mesh);
  if (this->Files.size() > 1 && arrays != this->Arrays)
  {
    throw OtherArrays();
  }
  this->Arrays = arrays;
  std::ofstream stream(Part(file), std::ios::binary);
  writer->WriteTo(stream, mesh, this->Filter);
  stream.close();
  if (this->Filter->CheckAbort())
  {
    throw Aborted();
  }
  Complete(stream, file);
}

std::string Pieces::Finish()
{
  const std::filesystem::path list = this->Name.string() + ".pvtp";
  std::ofstream stream(Part(list));
  stream << "<VTKFile type=\"PPolyData\" version=\"1.0\">\n  <PPolyData GhostLevel=\"0\">\n" << this->Arrays;
  for (const auto& file : this->Files)
  {
    stream << "    <Piece Source=\"" << Escaped(file.second.filename().string()) << "\"/>\n";
  }
  stream << "  </PPolyData>\n</VTKFile>\n";
  stream.close();
  this->Files.emplace(0, list); // until it is complete
  Complete(stream, list);
  const size_t pieces = this->Files.size() - 1;
  this->Files.clear();
  return "; written to " + list.string() + " in pieces: " + std::to_string(pieces) + "; the output is empty";
}
}
VTK_ABI_NAMESPACE_END
