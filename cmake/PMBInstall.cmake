# SPDX-License-Identifier: BSD-3-Clause
# Installs the core library, its header and the package PMB for find_package(). The VTK module, its Python package and
# the plugin are installed by the functions that build them, into the same prefix.
include(CMakePackageConfigHelpers)

# The static core library is for programs that use it without VTK. Where the module is built, only
# `cmake --install --component development` and the Debian package of that component include it.
set(pmb_unless_asked)
if (PMB_BUILD_PLUGIN OR PMB_BUILD_MODULE)
  set(pmb_unless_asked EXCLUDE_FROM_ALL)
endif ()

install(TARGETS pmb
  EXPORT PMB
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development ${pmb_unless_asked}
  LIBRARY DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development ${pmb_unless_asked}
  PUBLIC_HEADER DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development ${pmb_unless_asked}
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT PMB
  NAMESPACE PMB::
  FILE PMB-targets.cmake
  DESTINATION "${PMB_CMAKE_DESTINATION}"
  COMPONENT development ${pmb_unless_asked})
configure_package_config_file(
  cmake/PMBConfig.cmake.in
  "${CMAKE_BINARY_DIR}/CMakeFiles/PMBConfig.cmake"
  INSTALL_DESTINATION "${PMB_CMAKE_DESTINATION}")
write_basic_package_version_file(
  "${CMAKE_BINARY_DIR}/CMakeFiles/PMBConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES
  "${CMAKE_BINARY_DIR}/CMakeFiles/PMBConfig.cmake"
  "${CMAKE_BINARY_DIR}/CMakeFiles/PMBConfigVersion.cmake"
  cmake/PMBMendParaView.cmake
  DESTINATION "${PMB_CMAKE_DESTINATION}"
  COMPONENT development)
install(FILES LICENSE
  DESTINATION "${CMAKE_INSTALL_DOCDIR}"
  COMPONENT licence)
if (PMB_BUILD_PLUGIN)
  install(DIRECTORY Docs/ DESTINATION "${CMAKE_INSTALL_DOCDIR}" COMPONENT documentation
    FILES_MATCHING PATTERN __pycache__ EXCLUDE PATTERN USER_GUIDE.md PATTERN VERSIONS.md PATTERN PERFORMANCE.md PATTERN PARTICLES.md
    PATTERN "*.png" PATTERN "Examples/*" PATTERN "Examples/VTK/*")
endif ()
