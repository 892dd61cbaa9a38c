# SPDX-License-Identifier: BSD-3-Clause
# Finds ParaView and its own VTK. Only these components: a find_package(ParaView) without any drags in Qt, HDF5, GDAL
# and more, which the plugin does not need.
find_package(ParaView 5.11 QUIET COMPONENTS RemotingCore PythonInitializer)
if (NOT ParaView_FOUND)
  set(reason "")
  if (ParaView_NOT_FOUND_MESSAGE)
    set(reason "\nReason: ${ParaView_NOT_FOUND_MESSAGE}")
  endif ()
  message(FATAL_ERROR
    "ParaView's development files (5.11 or later) were not found. On Debian 12:\n"
    "  apt-get install --no-install-recommends g++ make cmake paraview-dev python3-paraview libopenmpi-dev libglew-dev\n"
    "Elsewhere set ParaView_DIR to the folder of paraview-config.cmake. "
    "Without ParaView, -DPMB_BUILD_PLUGIN=OFF builds the core library alone."
    "${reason}")
endif ()

# ParaView's components do not pull in all of VTK that the module, its wrapping and its tests use.
set(vtk_components CommonMisc FiltersCore Python WrappingPythonCore)
if (BUILD_TESTING)
  list(APPEND vtk_components ImagingCore)
endif ()
set(vtk_paths)
if (EXISTS "${ParaView_DIR}/vtk")
  set(vtk_paths PATHS "${ParaView_DIR}/vtk" NO_DEFAULT_PATH)
endif ()
find_package(VTK REQUIRED COMPONENTS ${vtk_components} ${vtk_paths})
