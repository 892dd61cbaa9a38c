# SPDX-License-Identifier: BSD-3-Clause
# pmb_wrap_classes(SOURCES HEADER CLASS...): lets ParaView make objects of these classes by name and call their public methods by
# name, with code that its own tool writes. A CLASS is the path of its files without .h and .cxx. SOURCES gets those of all, HEADER
# the function vtkPMBAddWrapped(). The tool needs nothing of superclasses, so ParaView's libraries need not be found as modules.
function (pmb_wrap_classes sources header)
  set(files)
  set(declarations)
  set(calls)
  set(includes "$<TARGET_PROPERTY:ParaView::RemotingServerManager,INTERFACE_INCLUDE_DIRECTORIES>"
    "$<TARGET_PROPERTY:VTK::CommonCore,INTERFACE_INCLUDE_DIRECTORIES>")
  foreach (path IN LISTS ARGN)
    get_filename_component(class "${path}" NAME)
    get_filename_component(path "${path}" ABSOLUTE)
    set(output "${CMAKE_CURRENT_BINARY_DIR}/${class}ClientServer.cxx")
    add_custom_command(OUTPUT "${output}" DEPENDS "${path}.h"
      COMMAND ParaView::WrapClientServer "-I$<JOIN:${includes},;-I>" -o "${output}" "${path}.h"
      COMMAND_EXPAND_LISTS VERBATIM)
    list(APPEND files "${path}.cxx" "${path}.h" "${output}")
    string(APPEND declarations "void ${class}_Init(vtkClientServerInterpreter*);\n")
    string(APPEND calls "  ${class}_Init(interpreter);\n")
  endforeach ()
  file(CONFIGURE OUTPUT "${header}" CONTENT "class vtkClientServerInterpreter;
@declarations@
static void vtkPMBAddWrapped(vtkClientServerInterpreter* interpreter)
{
@calls@}
" @ONLY)
  set(${sources} "${files}" PARENT_SCOPE)
endfunction ()
