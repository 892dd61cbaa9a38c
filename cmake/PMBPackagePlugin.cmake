# SPDX-License-Identifier: BSD-3-Clause
# The package of the plugin. ParaView lists in Tools > Manage Plugins the plugins of the files that a paraview.conf names. From
# Debian 13 on it is in ParaView's folder and names a file that no package of Debian has: this one has it. Debian 12 has no
# paraview.conf: the package's scripts add a line to /usr/bin/paraview.conf, and remove it again.
pmb_install_texts(plugin paraview-pmb-contour)
install(DIRECTORY Docs/ DESTINATION "${CMAKE_INSTALL_DATADIR}/doc/paraview-pmb-contour" COMPONENT plugin EXCLUDE_FROM_ALL
  FILES_MATCHING PATTERN __pycache__ EXCLUDE PATTERN USER_GUIDE.md PATTERN VERSIONS.md PATTERN PERFORMANCE.md PATTERN PARTICLES.md
  PATTERN "*.png" PATTERN "Examples/*" PATTERN "Examples/VTK/*")

list(APPEND CPACK_COMPONENTS_ALL plugin)
set(CPACK_DEBIAN_PLUGIN_PACKAGE_NAME paraview-pmb-contour)
set(CPACK_DEBIAN_PLUGIN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PLUGIN_PACKAGE_SHLIBDEPS ON)
# Without Qt's SVG module, which Debian's ParaView does not depend on, its window has no icons.
set(pmb_icons libqt5svg5)
if (PARAVIEW_QT_MAJOR_VERSION EQUAL 6)
  set(pmb_icons qt6-svg-plugins)
endif ()
set(CPACK_DEBIAN_PLUGIN_PACKAGE_DEPENDS "libvtk-pmb-contour ${pmb_same_version}, ${pmb_icons}")
set(CPACK_DEBIAN_PLUGIN_PACKAGE_RECOMMENDS python3-paraview)
set(CPACK_DEBIAN_PLUGIN_DESCRIPTION "Fast isosurfaces of image data: ParaView plugin
The filter PMB Contour: isosurfaces of regular grids by Parallel Marching
Blocks, on an NVIDIA GPU or on all cores, several times faster than the
filters of ParaView. ParaView lists the plugin in Tools > Manage Plugins.")

set(pmb_system "${ParaView_PREFIX_PATH}/lib/${CMAKE_LIBRARY_ARCHITECTURE}")
set(pmb_named)
file(GLOB pmb_conf "${pmb_system}/${PARAVIEW_PLUGIN_SUBDIR}/../paraview.conf")
if (pmb_conf)
  file(STRINGS "${pmb_conf}" pmb_named REGEX "^/usr/share/paraview/plugins$")
endif ()
if (pmb_named)
  install(FILES "${CMAKE_BINARY_DIR}/${CMAKE_INSTALL_LIBDIR}/${PARAVIEW_PLUGIN_SUBDIR}/pmb.plugins.xml"
    DESTINATION share/paraview RENAME plugins COMPONENT plugin EXCLUDE_FROM_ALL)
  return ()
endif ()

# Relative to /usr/bin, the folder of ParaView's programs and that file.
file(GLOB pmb_theirs RELATIVE "${ParaView_PREFIX_PATH}" "${pmb_system}/${PARAVIEW_PLUGIN_SUBDIR}/paraview.plugins.xml")
set(PMB_THEIR_LINE)
if (pmb_theirs)
  set(PMB_THEIR_LINE "../${pmb_theirs}")
endif ()
set(PMB_OUR_LINE "../${CMAKE_INSTALL_LIBDIR}/${PARAVIEW_PLUGIN_SUBDIR}/pmb.plugins.xml")
pmb_package_scripts(PLUGIN plugin postinst prerm)
