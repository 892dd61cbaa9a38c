# SPDX-License-Identifier: BSD-3-Clause
# CMake cannot find Debian 13's ParaView: its package files name Python modules without the "cpython-313-..." of Debian's file
# names, and CMake stops at an imported target without a file.

# Changes a package file's text for use in another folder, with the modules' real names.
function (_pmb_mend_text variable file suffix)
  string(REPLACE "\"\${CMAKE_CURRENT_LIST_FILE}\" PATH" "\"${file}\" PATH" text "${${variable}}")
  get_filename_component(folder "${file}" DIRECTORY)
  string(REPLACE "import_prefix \"\${CMAKE_CURRENT_LIST_DIR}\"" "import_prefix \"${folder}\"" text "${text}")
  string(REPLACE "\"\${CMAKE_CURRENT_LIST_DIR}/../" "\"${folder}/../" text "${text}")
  if (file MATCHES "Python[A-Za-z]*-targets-")
    string(REGEX REPLACE "([A-Za-z0-9_]+)\\.so\"" "\\1${suffix}\"" text "${text}")
  endif ()
  set(${variable} "${text}" PARENT_SCOPE)
endfunction ()

# pmb_mend_paraview(RESULT FOLDER): FOLDER has paraview-config.cmake. RESULT is FOLDER if its package can be used, else a repaired
# copy in the build folder, which each call makes again.
function (pmb_mend_paraview result folder)
  set(${result} "${folder}" PARENT_SCOPE)
  get_filename_component(prefix "${folder}/../../../.." ABSOLUTE) # of /usr/lib/x86_64-linux-gnu/cmake/paraview-5.13
  set(module "${prefix}/lib/python3/dist-packages/vtkmodules/vtkCommonCore")
  file(GLOB renamed "${module}.cpython-*.so")
  if (NOT renamed OR EXISTS "${module}.so")
    return ()
  endif ()
  list(GET renamed 0 renamed)
  string(REPLACE "${module}" "" suffix "${renamed}")

  get_filename_component(name "${folder}" NAME)
  set(copy "${CMAKE_BINARY_DIR}/CMakeFiles/${name}")
  file(GLOB_RECURSE files RELATIVE "${folder}" "${folder}/*")
  foreach (file IN LISTS files)
    file(READ "${folder}/${file}" text)
    _pmb_mend_text(text "${folder}/${file}" "${suffix}")
    set(old "none yet")
    if (EXISTS "${copy}/${file}")
      file(READ "${copy}/${file}" old)
    endif ()
    if (NOT text STREQUAL old) # an unchanged file keeps its time
      file(WRITE "${copy}/${file}" "${text}")
    endif ()
  endforeach ()
  set(${result} "${copy}" PARENT_SCOPE)
endfunction ()

# pmb_mend_vtk(RESULT FOLDER): the same for the folder of vtk-config.cmake, which may be in ParaView's.
function (pmb_mend_vtk result folder)
  get_filename_component(paraview "${folder}" DIRECTORY)
  if (EXISTS "${paraview}/paraview-config.cmake")
    pmb_mend_paraview(mended "${paraview}")
    string(REPLACE "${paraview}" "${mended}" folder "${folder}")
  endif ()
  set(${result} "${folder}" PARENT_SCOPE)
endfunction ()
