# SPDX-License-Identifier: BSD-3-Clause
# The plugin's pages in ParaView's help window: the user's guide, and what the "?" of the panel opens. Docs/make_help.py makes
# them, and the collection that the window reads: no tools of Qt are needed, to build or to show them.
find_package(Python3 QUIET COMPONENTS Interpreter)
set(pmb_help_default OFF)
if (PARAVIEW_USE_QT AND Python3_Interpreter_FOUND)
  set(pmb_help_default ON)
endif ()
option(PMB_PLUGIN_HELP "Put help pages into the plugin; needs Python 3 to build" "${pmb_help_default}")
set(pmb_help_arguments XML_DOCUMENTATION OFF)
if (NOT PMB_PLUGIN_HELP)
  return ()
endif ()
if (NOT pmb_help_default)
  message(FATAL_ERROR "PMB_PLUGIN_HELP needs ParaView with Qt, and Python 3. Set it to OFF to build without help "
    "pages.")
endif ()

set(pmb_help_arguments XML_DOCUMENTATION ON)
# With Qt 6 ParaView 5.13 omits the help of plugins, because those tools are missing. Nothing else in this folder uses Qt.
set(PARAVIEW_QT_MAJOR_VERSION 5)

# paraview_add_plugin() calls these two functions of ParaView's, which would run Qt's help generator and xmlpatterns. Each
# must add a target; the second also returns the name of the collection, which becomes part of the plugin.
function (paraview_client_documentation)
  cmake_parse_arguments(arg "" "TARGET" "" ${ARGN})
  add_custom_target("${arg_TARGET}")
endfunction ()
function (paraview_client_generate_help)
  cmake_parse_arguments(arg "" "NAME;TARGET;OUTPUT_PATH" "" ${ARGN})
  set(pages "${CMAKE_CURRENT_BINARY_DIR}/help_pages")
  set(collection "${pages}/${arg_NAME}.qch")
  set(script "${PROJECT_SOURCE_DIR}/Docs/make_help.py")
  set(guide "${PROJECT_SOURCE_DIR}/Docs/USER_GUIDE.md")
  set(panel "${CMAKE_CURRENT_SOURCE_DIR}/PMBContour.xml")
  file(GLOB pictures "${PROJECT_SOURCE_DIR}/Docs/*.png")
  add_custom_command(
    OUTPUT "${collection}"
    DEPENDS "${script}" "${guide}" "${panel}" ${pictures}
    COMMAND "${Python3_EXECUTABLE}" "${script}" "${panel}" "${guide}" "${pages}" "${arg_NAME}"
    COMMENT "Making the plugin's help pages")
  add_custom_target("${arg_TARGET}" DEPENDS "${collection}")
  set("${arg_OUTPUT_PATH}" "${collection}" PARENT_SCOPE)
endfunction ()
