# SPDX-License-Identifier: BSD-3-Clause
# The plugin's pages in ParaView's help window: the user's guide, and what the "?" of the panel opens. Making them needs
# Qt's help generator and xmlpatterns (which ParaView's CMake functions run, though our pages do not come from it):
# Debian 12: qttools5-dev qtxmlpatterns5-dev-tools; showing them needs nothing.

# pmb_find_help_tools(VAR): whether they are all here.
function (pmb_find_help_tools result)
  set("${result}" OFF PARENT_SCOPE)
  if (NOT PARAVIEW_USE_QT)
    return()
  endif ()
  set(qt 5)
  if (PARAVIEW_QT_MAJOR_VERSION) # from ParaView 5.12 on
    set(qt "${PARAVIEW_QT_MAJOR_VERSION}")
  endif ()
  if (qt EQUAL 5)
    find_package(Qt5 QUIET COMPONENTS Help)
  else ()
    find_package("Qt${qt}" QUIET COMPONENTS Help Tools)
  endif ()
  find_package(Python3 QUIET COMPONENTS Interpreter)
  # The name that ParaView's functions use. Debian has a program of this name also without the real one behind it.
  find_program(qt_xmlpatterns_executable NAMES xmlpatterns-qt5 xmlpatterns DOC "Path to xmlpatterns")
  mark_as_advanced(qt_xmlpatterns_executable)
  set(works 1)
  if (qt_xmlpatterns_executable)
    execute_process(COMMAND "${qt_xmlpatterns_executable}" -help RESULT_VARIABLE works OUTPUT_QUIET ERROR_QUIET)
  endif ()
  if (TARGET "Qt${qt}::qhelpgenerator" AND Python3_Interpreter_FOUND AND works EQUAL 0)
    set("${result}" ON PARENT_SCOPE)
    set(Python3_EXECUTABLE "${Python3_EXECUTABLE}" PARENT_SCOPE)
  endif ()
endfunction ()

# pmb_make_help_pages(VAR): makes the pages; VAR is set to the arguments of paraview_add_plugin().
function (pmb_make_help_pages result)
  set(pages "${CMAKE_CURRENT_BINARY_DIR}/help_pages")
  set(script "${PROJECT_SOURCE_DIR}/Docs/make_help.py")
  set(guide "${PROJECT_SOURCE_DIR}/Docs/USER_GUIDE.md")
  set(panel "${CMAKE_CURRENT_SOURCE_DIR}/PMBContour.xml")
  add_custom_command(
    OUTPUT "${pages}/index.html"
    DEPENDS "${script}" "${guide}" "${panel}"
    COMMAND "${Python3_EXECUTABLE}" "${script}" "${panel}" "${guide}" "${pages}"
    COMMENT "Making the plugin's help pages")
  set("${result}"
    XML_DOCUMENTATION ON
    DOCUMENTATION_DIR "${pages}"
    DOCUMENTATION_DEPENDENCIES "${pages}/index.html"
    DOCUMENTATION_TOC
      "<toc><section title=\"PMB Contour\" ref=\"index.html\"><section title=\"The panel's properties\" ref=\"filters.PMBContour.html\"/></section></toc>"
    PARENT_SCOPE)
endfunction ()

pmb_find_help_tools(pmb_help_tools)
option(PMB_PLUGIN_HELP "Put help pages into the plugin; needs Qt's help tools to build" "${pmb_help_tools}")
if (PMB_PLUGIN_HELP AND NOT pmb_help_tools)
  message(FATAL_ERROR
    "PMB_PLUGIN_HELP is ON, but its tools were not found: a ParaView with Qt, Qt's Help module with qhelpgenerator, "
    "xmlpatterns and Python 3. On Debian 12:\n"
    "  apt-get install --no-install-recommends qttools5-dev qtxmlpatterns5-dev-tools\n"
    "Without them, -DPMB_PLUGIN_HELP=OFF.")
endif ()
set(pmb_help_arguments XML_DOCUMENTATION OFF)
if (PMB_PLUGIN_HELP)
  pmb_make_help_pages(pmb_help_arguments)
endif ()
