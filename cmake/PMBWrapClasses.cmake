# SPDX-License-Identifier: BSD-3-Clause
# pmb_wrap_classes(SOURCES HEADER CLASS...): lets ParaView make objects of these classes by name and call their public methods by
# name, with code that its own tool writes. A CLASS is the path of its files without .h and .cxx. SOURCES gets those of all, HEADER
# the function vtkPMBAddWrapped(). Its source includes the tool's files: only they know whether their functions are of C or of C++,
# which differs from version to version. The tool needs nothing of superclasses, so ParaView's libraries need not be found as modules.
function (pmb_wrap_classes sources header)
  set(files)
  set(included)
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
    set_source_files_properties("${output}" PROPERTIES HEADER_FILE_ONLY ON)
    list(APPEND files "${path}.cxx" "${path}.h" "${output}")
    string(APPEND included "#include \"${output}\"\n")
    string(APPEND calls "  ${class}_Init(interpreter);\n")
  endforeach ()
  file(CONFIGURE OUTPUT "${header}" CONTENT "class vtkClientServerInterpreter;
void vtkPMBAddWrapped(vtkClientServerInterpreter* interpreter);
")
  file(CONFIGURE OUTPUT "${CMAKE_CURRENT_BINARY_DIR}/vtkPMBWrapped.cxx" CONTENT "@included@
void vtkPMBAddWrapped(vtkClientServerInterpreter* interpreter)
{
@calls@}
" @ONLY)
  set(${sources} "${files}" "${CMAKE_CURRENT_BINARY_DIR}/vtkPMBWrapped.cxx" PARENT_SCOPE)
endfunction ()
