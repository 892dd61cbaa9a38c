# SPDX-License-Identifier: BSD-3-Clause
# Finds ParaView and its own VTK. Only these components: a find_package(ParaView) without any drags in Qt, HDF5, GDAL
# and more, which the plugin does not need. Without the plugin any VTK will do.
include("${CMAKE_CURRENT_LIST_DIR}/PMBMendParaView.cmake")

if (PMB_BUILD_PLUGIN)
  # Finds the folder of ParaView's package without loading it: version 999 does not exist.
  string(FIND "${ParaView_DIR}" "${CMAKE_BINARY_DIR}/CMakeFiles/" position)
  if (position EQUAL 0) # our copy, left by a run of CMake that failed
    unset(ParaView_DIR CACHE)
  endif ()
  set(paraview_folder "${ParaView_DIR}")
  if (NOT paraview_folder)
    find_package(ParaView 999 QUIET)
    foreach (config IN LISTS ParaView_CONSIDERED_CONFIGS)
      get_filename_component(paraview_folder "${config}" DIRECTORY)
      break ()
    endforeach ()
  endif ()
  if (paraview_folder)
    pmb_mend_paraview(mended "${paraview_folder}")
    set(ParaView_DIR "${mended}" CACHE PATH "The folder of paraview-config.cmake" FORCE)
  endif ()
  find_package(ParaView 5.11 QUIET COMPONENTS RemotingCore PythonInitializer)
endif ()
if (PMB_BUILD_PLUGIN AND NOT ParaView_FOUND)
  set(reason "")
  if (ParaView_NOT_FOUND_MESSAGE)
    set(reason "\nReason: ${ParaView_NOT_FOUND_MESSAGE}")
  endif ()
  message(FATAL_ERROR
    "ParaView's development files (5.11 or later) were not found. On Debian 12 and 13, there with libglew-dev too, and later, "
    "with libvtk9-dev too:\n  apt-get install --no-install-recommends g++ make cmake paraview-dev python3-paraview libopenmpi-dev libpython3-dev\n"
    "Elsewhere set ParaView_DIR to the folder of paraview-config.cmake. "
    "Without ParaView, -DPMB_BUILD_PLUGIN=OFF builds the core library alone."
    "${reason}")
endif ()

# ParaView's components do not pull in all of VTK that the module, its wrapping and its tests use.
set(vtk_components CommonMisc FiltersCore IOXML ParallelCore Python WrappingPythonCore)
if (BUILD_TESTING)
  list(APPEND vtk_components ImagingCore)
endif ()
set(vtk_paths)
if (EXISTS "${ParaView_DIR}/vtk")
  set(vtk_paths PATHS "${ParaView_DIR}/vtk" NO_DEFAULT_PATH)
endif ()
if (PMB_BUILD_PLUGIN)
  list(APPEND vtk_components RenderingOpenGL2)
endif ()
if (PMB_BUILD_PLUGIN AND PARAVIEW_USE_PYTHON)
  list(APPEND vtk_components PythonInterpreter)
endif ()
find_package(VTK 9.1 REQUIRED COMPONENTS ${vtk_components} ${vtk_paths})
if (PMB_BUILD_PLUGIN) # ParaView may use the system's VTK, of which there may be others
  get_target_property(paraview_core ParaView::RemotingCore LOCATION)
  get_target_property(vtk_core VTK::CommonCore LOCATION)
  file(STRINGS "${paraview_core}" uses REGEX "^libvtkCommonCore[^/]*[.]so" LIMIT_COUNT 1)
  file(STRINGS "${vtk_core}" has REGEX "^libvtkCommonCore[^/]*[.]so" LIMIT_COUNT 1)
  if (NOT uses STREQUAL has)
    message(FATAL_ERROR "ParaView ${ParaView_VERSION} uses ${uses}, but VTK ${VTK_VERSION} in ${VTK_DIR} has ${has}: set "
      "VTK_DIR to the folder of vtk-config.cmake of ParaView's VTK.")
  endif ()
endif ()
set(PMB_WRAP_PYTHON "${VTK_WRAP_PYTHON}")
if (PMB_BUILD_PLUGIN)
  set(PMB_WRAP_PYTHON "${PARAVIEW_USE_PYTHON}")
endif ()
# VTK 9.1 has no vtkABINamespace.h.
if (VTK_VERSION VERSION_LESS 9.2)
  file(WRITE "${CMAKE_BINARY_DIR}/CMakeFiles/vtk91/vtkABINamespace.h" "")
  include_directories("${CMAKE_BINARY_DIR}/CMakeFiles/vtk91")
  set(PMB_VTK_DEFINITIONS VTK_ABI_NAMESPACE_BEGIN= VTK_ABI_NAMESPACE_END=)
  add_compile_definitions(${PMB_VTK_DEFINITIONS})
endif ()
set(PMB_VTK_DIR "${VTK_DIR}")
if (paraview_folder) # restores the system's folder: the copy would miss its updates
  set(ParaView_DIR "${paraview_folder}" CACHE PATH "The folder of paraview-config.cmake" FORCE)
  string(REPLACE "${mended}" "${paraview_folder}" PMB_VTK_DIR "${VTK_DIR}")
endif ()
