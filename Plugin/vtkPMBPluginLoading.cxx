// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBPluginLoading.h"

#include "vtkCallbackCommand.h"
#include "vtkClientServerInterpreterInitializer.h"
#include "vtkCommand.h"
#include "vtkNew.h"
#include "vtkObject.h"
#include "vtkPMBPrivateMembers.h"
#include "vtkPMBWrapped.h"
#include "vtkPVPlugin.h"
#include "vtkPVPluginTracker.h"
#include "vtkPVPluginsInformation.h"
#include "vtkProcessModule.h"
#include "vtkSMPMBHistogramProxy.h"
#include "vtkSMPluginManager.h"
#include "vtkSMProxy.h"
#include "vtkSMProxyManager.h"
#include "vtkSMSession.h"
#include "vtkSmartPointer.h"
#include "vtkVersion.h"
#include "vtksys/SystemTools.hxx"

#ifdef PMB_PYTHON_DESTINATION // of the Python package, below the prefix
#include "vtkPythonInterpreter.h"
#endif

#include <dlfcn.h>
#include <sstream>
#include <string>
#include <vector>

namespace
{
const std::string Name = "ParallelMarchingBlocks";

// Returns the loaded files of this name in the order of loading.
std::vector<std::string> PluginFiles()
{
  std::vector<std::string> files;
  auto* tracker = vtkPVPluginTracker::GetInstance();
  for (unsigned int i = 0; i < tracker->GetNumberOfPlugins(); ++i)
  {
    if (tracker->GetPluginName(i) == Name && tracker->GetPluginFileName(i))
    {
      files.push_back(vtksys::SystemTools::GetRealPath(tracker->GetPluginFileName(i)));
    }
  }
  return files;
}

// A ParaView whose libraries have no version in their names loads the plugin of another one. Says so once.
bool IsRightVersion()
{
  static const bool isRight = []
  {
    const char* const volatile where = PMB_BUILT_FOR; // one string in the file: a test changes it
    const std::string builtFor = where;
    std::ostringstream text;
    text << "ParaView " << vtkSMProxyManager::GetVersionMajor() << "." << vtkSMProxyManager::GetVersionMinor()
         << " with VTK " << vtkVersion::GetVTKMajorVersion() << "." << vtkVersion::GetVTKMinorVersion();
    if (text.str() != builtFor)
    {
      vtkGenericWarningMacro("The plugin " << Name << " was built for " << builtFor << ", and this is " << text.str()
                                           << ": install the plugin for this version, and restart ParaView.");
    }
    return text.str() == builtFor;
  }();
  return isRight;
}

// The linker joins a second copy to the first: this runs in the first one, a second time. ParaView knows the newest file.
void CheckCopies()
{
  static std::string first;
  for (const std::string& file : PluginFiles())
  {
    if (first.empty())
    {
      first = file;
    }
    else if (first != file)
    {
      vtkGenericWarningMacro("The plugin " << Name << " is loaded already, from " << first << "; the copy " << file
                                           << " is ignored. To use it, restart ParaView and load only this copy.");
    }
  }
}

#ifdef PMB_PYTHON_DESTINATION
// The folder that has the package: that of Python modules below the plugin's prefix. Empty if there is none.
std::string PackagesFolder(std::string folder)
{
  std::string up = vtksys::SystemTools::GetFilenamePath(folder);
  while (!up.empty() && up != folder)
  {
    folder = up;
    const std::string packages = folder + "/" + PMB_PYTHON_DESTINATION;
    if (vtksys::SystemTools::FileIsDirectory(packages + "/pmb"))
    {
      return packages;
    }
    up = vtksys::SystemTools::GetFilenamePath(folder);
  }
  return std::string();
}

// Errors of the package are reported where it is imported, not here.
void Import(vtkObject*, unsigned long, void*, void*)
{
  const std::vector<std::string> files = PluginFiles();
  std::string folder = files.empty() ? std::string() : PackagesFolder(files.front());
  if (folder.empty())
  {
    return;
  }
  vtksys::SystemTools::ReplaceString(folder, "'", "\\'");
  // In a namespace of its own.
  const std::string script = R"(exec('''import sys
if folder not in sys.path:
  sys.path.append(folder)
try:
  import pmb
except Exception:
  pass''', {'folder': ')" +
    folder + "'})";
  vtkPythonInterpreter::RunSimpleString(script.c_str());
}
#endif

// In a client, when a source is made: the plugins of both sides are loaded by then.
void CheckServer(vtkObject*, unsigned long, void*, void* data)
{
  auto* info = static_cast<vtkSMProxyManager::RegisteredProxyInformation*>(data);
  if (!info || info->Type != vtkSMProxyManager::RegisteredProxyInformation::PROXY || !info->Proxy ||
    std::string("sources") != info->GroupName)
  {
    return;
  }
  vtkSMSession* session = info->Proxy->GetSession();
  static vtkSMSession* last = nullptr; // one line for each, not one for each source
  if (!session || session == last || !session->IsA("vtkSMSessionClient"))
  {
    return;
  }
  last = session;
  if (!vtkPMBPluginLoading::IsOnServer(session))
  {
    vtkGenericWarningMacro("The plugin " << Name
                                         << " is loaded on the client, but not on the server, where PMB Contour "
                                         << "needs it: load it there too (Tools > Manage Plugins, or "
                                         << "LoadPlugin(file, remote=True)).");
  }
}
}

// ParaView from 6.1 on does not register the plugin if this returns false.
C_EXPORT bool C_DECL pv_plugin_on_load_check()
{
  return IsRightVersion();
}

// Looks in a folder beside the plugin's own file: PV_PLUGIN_PATH would load it everywhere from the same folder. Programs without
// ParaView's window load none.
static bool PanelLoaded = false;
static void LoadPanel()
{
  Dl_info self = {};
  if (PanelLoaded || !vtkPMBPrivateMembers::Has("panel") ||
    !dlsym(RTLD_DEFAULT, vtkPMBPrivateMembers::WindowSymbol) || !dladdr(reinterpret_cast<void*>(&LoadPanel), &self))
  {
    return;
  }
  const std::string file =
    vtksys::SystemTools::GetFilenamePath(self.dli_fname) + "/panel/ParallelMarchingBlocksPanel.so";
  void* panel = vtksys::SystemTools::FileExists(file) ? dlopen(file.c_str(), RTLD_NOW) : nullptr;
  if (auto* add = panel ? reinterpret_cast<void (*)()>(dlsym(panel, "PMBRegisterPanel")) : nullptr)
  {
    add();
    PanelLoaded = true;
  }
}

bool vtkPMBPluginLoading::HasPanel()
{
  return PanelLoaded;
}

bool vtkPMBPluginLoading::IsOnServer(vtkSMSession* session)
{
  auto* plugins = vtkSMProxyManager::GetProxyManager()->GetPluginManager()->GetRemoteInformation(session);
  bool isLoaded = false;
  for (unsigned int i = 0; plugins && i < plugins->GetNumberOfPlugins(); ++i)
  {
    isLoaded |= plugins->GetPluginName(i) == Name && plugins->GetPluginLoaded(i);
  }
  return isLoaded;
}

void vtkPMBPluginLoading::Register()
{
  vtkClientServerInterpreterInitializer::GetInitializer()->RegisterCallback(vtkPMBAddWrapped);
  vtkSMPMBHistogramProxy::HideColumns();
}

void vtkPMBPluginLoading::Check()
{
  CheckCopies();
  if (!IsRightVersion())
  {
    return;
  }
  LoadPanel();
  if (vtkProcessModule::GetProcessType() != vtkProcessModule::PROCESS_CLIENT)
  {
    return;
  }
  vtkNew<vtkCallbackCommand> command;
  command->SetCallback(CheckServer);
  vtkSMProxyManager::GetProxyManager()->AddObserver(vtkCommand::RegisterEvent, command);
}

void vtkPMBPluginLoading::ImportPackage()
{
#ifdef PMB_PYTHON_DESTINATION
  static vtkSmartPointer<vtkPythonInterpreter> watch; // for Python that starts later
  if (watch)
  {
    return;
  }
  vtkNew<vtkCallbackCommand> command;
  command->SetCallback(Import);
  watch = vtkSmartPointer<vtkPythonInterpreter>::New();
  watch->AddObserver(vtkCommand::EnterEvent, command);
  if (vtkPythonInterpreter::IsInitialized())
  {
    Import(nullptr, 0, nullptr, nullptr);
  }
#endif
}
