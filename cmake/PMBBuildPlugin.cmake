# SPDX-License-Identifier: BSD-3-Clause
# The VTK modules, their Python wrapping and the ParaView plugin.

# pmb_set_module_options(MODULE [OPTION...]): adds link options. With another VTK than the one it was built with the module refuses
# to load, instead of ending the program at the first missing symbol. The definitions are for users of the installed headers
# (PMBFindParaView.cmake).
function (pmb_set_module_options module)
  if (UNIX AND NOT APPLE)
    vtk_module_link_options(${module} PRIVATE "LINKER:-z,now" ${ARGN})
  endif ()
  if (PMB_VTK_DEFINITIONS)
    vtk_module_definitions(${module} PUBLIC ${PMB_VTK_DEFINITIONS})
  endif ()
endfunction ()

# The modules. TEST_DIRECTORY_NAME NONE: the tests are added from Testing/, not by VTK from Filters/Testing.
vtk_module_scan(
  MODULE_FILES "${CMAKE_CURRENT_SOURCE_DIR}/Filters/vtk.module" "${CMAKE_CURRENT_SOURCE_DIR}/Filters/Acceleration/vtk.module"
  REQUEST_MODULES PMB::Contour PMB::Acceleration
  PROVIDES_MODULES pmb_modules
  REQUIRES_MODULES pmb_required_modules
  HIDE_MODULES_FROM_CACHE ON)
vtk_module_build(
  MODULES ${pmb_modules}
  PACKAGE PMBContour
  INSTALL_EXPORT PMBContour
  CMAKE_DESTINATION "${PMB_CMAKE_DESTINATION}"
  HEADERS_DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}/pmb"
  HIERARCHY_DESTINATION "${CMAKE_INSTALL_LIBDIR}/vtk/hierarchy/PMB"
  TARGETS_COMPONENT module
  VERSION "${PMB_VERSION_MAJOR}.${PMB_VERSION_MINOR}"
  SOVERSION "${PMB_VERSION_MAJOR}.${PMB_VERSION_MINOR}"
  TEST_DIRECTORY_NAME NONE)

# The mapper, in a package of its own: users of PMB::Contour need no OpenGL.
if (PMB_BUILD_PLUGIN)
  vtk_module_scan(
    MODULE_FILES "${CMAKE_CURRENT_SOURCE_DIR}/Rendering/vtk.module"
    REQUEST_MODULES PMB::Rendering
    PROVIDES_MODULES pmb_rendering_modules
    REQUIRES_MODULES pmb_required_rendering_modules
    HIDE_MODULES_FROM_CACHE ON)
  vtk_module_build(
    MODULES ${pmb_rendering_modules}
    PACKAGE PMBRendering
    INSTALL_EXPORT PMBRendering
    INSTALL_HEADERS OFF
    CMAKE_DESTINATION "${PMB_CMAKE_DESTINATION}"
    HIERARCHY_DESTINATION "${CMAKE_INSTALL_LIBDIR}/vtk/hierarchy/PMB"
    TARGETS_COMPONENT module
    VERSION "${PMB_VERSION_MAJOR}.${PMB_VERSION_MINOR}"
    SOVERSION "${PMB_VERSION_MAJOR}.${PMB_VERSION_MINOR}"
    TEST_DIRECTORY_NAME NONE)
endif ()

# Python: the package pmb, with an extension module for each VTK module.
if (PMB_WRAP_PYTHON)
  set(PMB_PYTHON_DESTINATION "lib/python3/dist-packages"
    CACHE PATH "Where Python modules go, below the installation prefix")
  vtk_module_wrap_python(
    MODULES ${pmb_modules} ${pmb_rendering_modules}
    TARGET PMB::ContourPython
    INSTALL_HEADERS OFF
    BUILD_STATIC OFF
    PYTHON_PACKAGE pmb
    COMPONENT module
    MODULE_DESTINATION "${PMB_PYTHON_DESTINATION}"
    CMAKE_DESTINATION "${PMB_CMAKE_DESTINATION}"
    LIBRARY_DESTINATION "${CMAKE_INSTALL_LIBDIR}")
  configure_file(Filters/pmb_package.py "${CMAKE_BINARY_DIR}/${PMB_PYTHON_DESTINATION}/pmb/__init__.py" COPYONLY)
  install(FILES Filters/pmb_package.py RENAME __init__.py DESTINATION "${PMB_PYTHON_DESTINATION}/pmb" COMPONENT module)
endif ()
if (NOT PMB_BUILD_PLUGIN)
  return ()
endif ()

# The plugin. Scanned through the link in Plugin/, because paraview_plugin_build() adds the folder of the file it is
# given as a subdirectory, and that of the one at the top is this project itself.
paraview_plugin_scan(
  PLUGIN_FILES "${CMAKE_CURRENT_SOURCE_DIR}/Plugin/paraview.plugin"
  PROVIDES_PLUGINS pmb_plugins
  ENABLE_BY_DEFAULT ON
  HIDE_PLUGINS_FROM_CACHE ON)
paraview_plugin_build(
  PLUGINS ${pmb_plugins}
  PLUGINS_FILE_NAME "pmb.plugins.xml"
  INSTALL_HEADERS OFF
  PLUGINS_COMPONENT plugin
  TARGET_COMPONENT plugin
  LIBRARY_SUBDIRECTORY "${PARAVIEW_PLUGIN_SUBDIR}")
