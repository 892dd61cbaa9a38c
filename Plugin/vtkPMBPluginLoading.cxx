// SPDX-License-Identifier: BSD-3-Clause
#include "vtkPMBPluginLoading.h"

#include "vtkCallbackCommand.h"
#include "vtkCommand.h"
#include "vtkNew.h"
#include "vtkObject.h"
#include "vtkPVPluginTracker.h"
#include "vtkPVPluginsInformation.h"
#include "vtkProcessModule.h"
#include "vtkSMPluginManager.h"
#include "vtkSMProxy.h"
#include "vtkSMProxyManager.h"
#include "vtkSMSession.h"
#include "vtksys/SystemTools.hxx"

#include <dlfcn.h>

namespace
{
const std::string Name = "ParallelMarchingBlocks";

// The linker joins a second copy to the first: this runs in the first one, a second time. ParaView knows the newest file.
void CheckCopies()
{
  static std::string first;
  auto* tracker = vtkPVPluginTracker::GetInstance();
  for (unsigned int i = 0; i < tracker->GetNumberOfPlugins(); ++i)
  {
    if (tracker->GetPluginName(i) != Name || !tracker->GetPluginFileName(i))
    {
      continue;
    }
    const std::string file = vtksys::SystemTools::GetRealPath(tracker->GetPluginFileName(i));
    if (first.empty())
    {
      first = file;
    }
    else if (first != file)
    {
      vtkGenericWarningMacro("The plugin "
        << Name << " is loaded already, from " << first << "; the copy " << file
        << " changes nothing. To use that one, restart ParaView and load it alone.");
    }
  }
}

bool IsLoaded(vtkPVPluginsInformation* plugins)
{
  for (unsigned int i = 0; plugins && i < plugins->GetNumberOfPlugins(); ++i)
  {
    if (plugins->GetPluginName(i) == Name)
    {
      return plugins->GetPluginLoaded(i);
    }
  }
  return false;
}

// In a client, when a source is made: the plugins of both sides are loaded by then.
void CheckServer(vtkObject* caller, unsigned long, void*, void* data)
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
  auto* plugins = static_cast<vtkSMProxyManager*>(caller)->GetPluginManager();
  if (!IsLoaded(plugins->GetRemoteInformation(session)))
  {
    vtkGenericWarningMacro("The plugin " << Name
                                         << " is loaded on the client, but not on the server, which has to have it "
                                         << "for PMB Contour: load it there too (Tools > Manage Plugins, or "
                                         << "LoadPlugin(file, remote=True)).");
  }
}
}

// In a folder beside the plugin's own file, if it was built: in the same folder PV_PLUGIN_PATH would load it everywhere. ParaView's window alone has the function that is looked for here,
// pqApplicationCore::instance(): other programs have no Qt, and get none.
static void LoadPanel()
{
  static bool loaded = false;
  Dl_info self = {};
  if (loaded || !dlsym(RTLD_DEFAULT, "_ZN17pqApplicationCore8instanceEv") ||
    !dladdr(reinterpret_cast<void*>(&LoadPanel), &self))
  {
    return;
  }
  const std::string file =
    vtksys::SystemTools::GetFilenamePath(self.dli_fname) + "/panel/ParallelMarchingBlocksPanel.so";
  void* panel = vtksys::SystemTools::FileExists(file) ? dlopen(file.c_str(), RTLD_NOW) : nullptr;
  if (auto* add = panel ? reinterpret_cast<void (*)()>(dlsym(panel, "PMBRegisterPanel")) : nullptr)
  {
    add();
    loaded = true;
  }
}

void vtkPMBPluginLoading::Check()
{
  CheckCopies();
  LoadPanel();
  if (vtkProcessModule::GetProcessType() != vtkProcessModule::PROCESS_CLIENT)
  {
    return;
  }
  vtkNew<vtkCallbackCommand> command;
  command->SetCallback(CheckServer);
  vtkSMProxyManager::GetProxyManager()->AddObserver(vtkCommand::RegisterEvent, command);
}
