# SPDX-License-Identifier: BSD-3-Clause
# Targets pmb_measure_gpu (times of the GPU's passes) and pmb_gpu_faults, which use the library's private headers. Without CUDA
# only headers.
foreach(name IN ITEMS measure_gpu gpu_faults)
  if(TARGET pmb_${name})
    continue()
  endif()
  if(TARGET pmb_cuda)
    enable_language(CUDA)
    add_library(pmb_${name} STATIC EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/pmb_${name}.cu)
    set_target_properties(pmb_${name} PROPERTIES
      CUDA_STANDARD 14 CUDA_STANDARD_REQUIRED ON CUDA_EXTENSIONS OFF CUDA_ARCHITECTURES "${PMB_CUDA_ARCHITECTURES}"
      CUDA_RUNTIME_LIBRARY Static POSITION_INDEPENDENT_CODE ON LINKER_LANGUAGE C)
    target_compile_options(pmb_${name} PRIVATE --fmad=false -Xcompiler=-Wall,-Wextra,-Wno-psabi,-ffp-contract=off)
    target_link_libraries(pmb_${name} PUBLIC PMB::pmb)
    target_compile_definitions(pmb_${name} PUBLIC PMB_MEASURE_GPU)
    target_include_directories(pmb_${name} PUBLIC ${CMAKE_CURRENT_LIST_DIR})
  else()
    add_library(pmb_${name} INTERFACE)
    target_include_directories(pmb_${name} INTERFACE ${CMAKE_CURRENT_LIST_DIR})
  endif()
endforeach()
