# SPDX-License-Identifier: BSD-3-Clause
# pmb_cuda_files: the sources of the CUDA backend. Has pmb_cuda_vertices_list.cu.in once per sample type: nvcc compiles
# functions called by address again for each kernel of a file, so one file for all types would take ten times as long.
get_filename_component(pmb_kernels ${CMAKE_CURRENT_LIST_DIR}/.. ABSOLUTE)
file(GLOB_RECURSE pmb_cuda_files CONFIGURE_DEPENDS ${pmb_kernels}/*.cu)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${pmb_kernels}/shared/pmb_types.h)
file(READ ${pmb_kernels}/shared/pmb_types.h pmb_types)
string(REGEX MATCHALL "X\\([A-Z]+[0-9]+, [a-z0-9_]+, [a-z0-9]+" pmb_types "${pmb_types}")
foreach(line IN LISTS pmb_types)
  string(REGEX REPLACE ".*, ([a-z0-9_]+), [a-z0-9]+" "\\1" type "${line}")
  set(pmb_vertices_file ${CMAKE_CURRENT_BINARY_DIR}/pmb_cuda_vertices_${type}.cu)
  configure_file(${CMAKE_CURRENT_LIST_DIR}/pmb_cuda_vertices_list.cu.in ${pmb_vertices_file} @ONLY)
  list(APPEND pmb_cuda_files ${pmb_vertices_file})
endforeach()
