# SPDX-License-Identifier: BSD-3-Clause
# Installs the core library, its header and the package PMB for find_package(). The VTK module, its Python package and
# the plugin are installed by the functions that build them, into the same prefix.
include(CMakePackageConfigHelpers)

install(TARGETS pmb
  EXPORT PMB
  ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}" COMPONENT development
  PUBLIC_HEADER DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT development
  INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}")
install(EXPORT PMB
  NAMESPACE PMB::
  FILE PMB-targets.cmake
  DESTINATION "${PMB_CMAKE_DESTINATION}"
  COMPONENT development)
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
