# SPDX-License-Identifier: BSD-3-Clause
# Debian packages, made by cpack (./pmb package):
#   paraview-pmb-contour     the plugin
#   libvtk-pmb-contour       the VTK module and its Python package, built with ParaView's VTK
#   libvtk-pmb-contour-dev   headers, CMake packages, the core library
# and without the plugin (PMB_BUILD_MODULE), built with a VTK without ParaView, such as Debian's:
#   libvtk9-pmb-contour, libvtk9-pmb-contour-dev
# Files for packages alone are EXCLUDE_FROM_ALL: cpack names their components, `cmake --install` does not install them.
if (NOT CMAKE_SYSTEM_NAME STREQUAL "Linux" OR NOT (PMB_BUILD_PLUGIN OR PMB_BUILD_MODULE))
  return ()
endif ()

set(PMB_PACKAGE_MAINTAINER "PMB Contour authors" CACHE STRING "The field Maintainer of Debian packages: name <address>")
mark_as_advanced(PMB_PACKAGE_MAINTAINER)

set(pmb_module_package libvtk-pmb-contour)
set(pmb_other_module_package libvtk9-pmb-contour)
if (NOT PMB_BUILD_PLUGIN)
  set(pmb_module_package libvtk9-pmb-contour)
  set(pmb_other_module_package libvtk-pmb-contour)
endif ()

# The version contains Debian's release, because each has another ParaView.
set(pmb_release 1)
if (EXISTS /etc/debian_version)
  file(STRINGS /etc/debian_version pmb_debian LIMIT_COUNT 1)
  if (pmb_debian MATCHES "^([0-9]+)")
    set(pmb_release "1~deb${CMAKE_MATCH_1}")
  endif ()
endif ()

# Fills ${folder} with copyright, changelog.gz and changelog.Debian.gz.
function (pmb_package_texts folder)
  file(READ LICENSE text)
  string(REGEX MATCH "^BSD 3-Clause License\n\nCopyright \\(c\\) ([^\n]*)\n\n" head "${text}")
  set(holders "${CMAKE_MATCH_1}")
  string(LENGTH "${head}" length)
  string(SUBSTRING "${text}" ${length} -1 text)
  string(STRIP "${text}" text)
  string(REPLACE "\n\n" "\n.\n" text "${text}")
  string(REPLACE "\n" "\n " text "${text}")
  set(comment)
  if (PMB_CUDA_VERSION)
    set(comment "Comment:\n The libraries contain the static part of NVIDIA's CUDA runtime, which may be passed on in\n"
      " programs under the terms of NVIDIA's CUDA Toolkit End User License Agreement.\n")
    string(CONCAT comment ${comment})
  endif ()
  file(WRITE "${folder}/copyright"
    "Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/\nUpstream-Name: PMB Contour\n${comment}\n"
    "Files: *\nCopyright: ${holders}\nLicense: BSD-3-clause\n ${text}\n")
  set(date)
  execute_process(COMMAND git -C "${CMAKE_SOURCE_DIR}" log -1 --format=%cD
    OUTPUT_VARIABLE date ERROR_QUIET OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE status)
  if (NOT date)
    string(TIMESTAMP date "%a, %d %b %Y %H:%M:%S +0000" UTC)
  endif ()
  file(WRITE "${folder}/changelog.Debian"
    "pmb-contour (${PMB_VERSION}-${pmb_release}) unstable; urgency=medium\n\n"
    "  * Built from the sources of ${PMB_VERSION}; what has changed is in changelog.gz.\n\n"
    " -- ${PMB_PACKAGE_MAINTAINER}  ${date}\n")
  configure_file(CHANGELOG.md "${folder}/changelog" COPYONLY)
  execute_process(COMMAND gzip -9nf "${folder}/changelog" "${folder}/changelog.Debian" RESULT_VARIABLE status)
  if (NOT status EQUAL 0)
    message(FATAL_ERROR "gzip, which Debian packages need, failed: ${status}")
  endif ()
endfunction ()

set(pmb_texts "${CMAKE_BINARY_DIR}/CMakeFiles/package")
pmb_package_texts("${pmb_texts}")
function (pmb_install_texts component package)
  install(FILES "${pmb_texts}/copyright" "${pmb_texts}/changelog.gz" "${pmb_texts}/changelog.Debian.gz"
    DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/${package}" COMPONENT "${component}" EXCLUDE_FROM_ALL)
endfunction ()
# pmb_package_scripts(NAME FOLDER SCRIPT...): scripts of cmake/package/FOLDER that dpkg runs, for the component NAME.
function (pmb_package_scripts name folder)
  set(scripts)
  foreach (script IN LISTS ARGN)
    configure_file("cmake/package/${folder}/${script}.in" "${pmb_texts}/${folder}/${script}" @ONLY
      FILE_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
    list(APPEND scripts "${pmb_texts}/${folder}/${script}")
  endforeach ()
  set(CPACK_DEBIAN_${name}_PACKAGE_CONTROL_EXTRA "${scripts}" PARENT_SCOPE)
endfunction ()
pmb_install_texts(module "${pmb_module_package}")
pmb_install_texts(development "${pmb_module_package}-dev")

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME pmb-contour)
set(CPACK_PACKAGE_VENDOR "PMB Contour")
set(CPACK_PACKAGE_CONTACT "${PMB_PACKAGE_MAINTAINER}")
# CMake's default, which cpack omits: the first line of each package's description is its short description.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${CMAKE_PROJECT_NAME} built using CMake")
set(CPACK_PACKAGE_DIRECTORY "${CMAKE_BINARY_DIR}/packages")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
# Whatever the umask: folders of a user's own group would be writable by the group.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS
  OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL module development)
set(CPACK_COMPONENTS_GROUPING IGNORE) # a package per component
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE "${pmb_release}")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
# Looks for needed libraries in this build too; the packages that contain them are named below.
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS "${CMAKE_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}")
set(pmb_same_version "(= ${PMB_VERSION}-${pmb_release})")

set(CPACK_DEBIAN_MODULE_PACKAGE_NAME "${pmb_module_package}")
set(CPACK_DEBIAN_MODULE_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_MODULE_PACKAGE_SHLIBDEPS ON)
pmb_package_scripts(MODULE module triggers postinst prerm postrm)
if (PMB_WRAP_PYTHON AND Python3_VERSION)
  math(EXPR pmb_next "${Python3_VERSION_MINOR} + 1")
  set(CPACK_DEBIAN_MODULE_PACKAGE_DEPENDS
    "python3 (>= ${Python3_VERSION_MAJOR}.${Python3_VERSION_MINOR}~), python3 (<< ${Python3_VERSION_MAJOR}.${pmb_next})")
endif ()
set(CPACK_DEBIAN_MODULE_PACKAGE_CONFLICTS "${pmb_other_module_package}")
set(CPACK_DEBIAN_MODULE_DESCRIPTION "Fast isosurfaces of image data: VTK module
The class vtkPMBContourFilter for C++ and the Python package pmb, built with
@vtk@. Isosurfaces of regular grids by Parallel Marching
Blocks, on an NVIDIA GPU or on all cores.")
if (PMB_BUILD_PLUGIN)
  set(CPACK_DEBIAN_MODULE_PACKAGE_RECOMMENDS python3-paraview)
  string(REPLACE "@vtk@" "ParaView's own VTK" CPACK_DEBIAN_MODULE_DESCRIPTION "${CPACK_DEBIAN_MODULE_DESCRIPTION}")
else ()
  set(CPACK_DEBIAN_MODULE_PACKAGE_RECOMMENDS python3-vtk9)
  string(REPLACE "@vtk@" "VTK ${VTK_VERSION}" CPACK_DEBIAN_MODULE_DESCRIPTION "${CPACK_DEBIAN_MODULE_DESCRIPTION}")
endif ()

set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME "${pmb_module_package}-dev")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS "${pmb_module_package} ${pmb_same_version}")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_CONFLICTS "${pmb_other_module_package}-dev")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS libvtk9-dev)
if (PMB_BUILD_PLUGIN)
  set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_RECOMMENDS paraview-dev)
endif ()
set(CPACK_DEBIAN_DEVELOPMENT_DESCRIPTION "Fast isosurfaces of image data: development files
Headers and CMake packages of the VTK module vtkPMBContourFilter, and of the
C library pmb under it, which needs no VTK.")

if (PMB_BUILD_PLUGIN)
  include(cmake/PMBPackagePlugin.cmake)
endif ()
include(CPack)
