# SPDX-License-Identifier: BSD-3-Clause
# Target pmb_measure_gpu: times of the GPU's passes, for benchmarks; without CUDA only its header.
if(TARGET pmb_measure_gpu)
  return()
endif()
if(TARGET pmb_cuda)
  enable_language(CUDA)
  add_library(pmb_measure_gpu STATIC EXCLUDE_FROM_ALL ${CMAKE_CURRENT_LIST_DIR}/pmb_measure_gpu.cu)
  set_target_properties(pmb_measure_gpu PROPERTIES
    CUDA_STANDARD 14 CUDA_STANDARD_REQUIRED ON CUDA_EXTENSIONS OFF CUDA_ARCHITECTURES "${PMB_CUDA_ARCHITECTURES}"
    CUDA_RUNTIME_LIBRARY Static POSITION_INDEPENDENT_CODE ON LINKER_LANGUAGE C)
  target_compile_options(pmb_measure_gpu PRIVATE --fmad=false -Xcompiler=-Wall,-Wextra,-Wno-psabi,-ffp-contract=off)
  target_link_libraries(pmb_measure_gpu PUBLIC PMB::pmb)
  target_compile_definitions(pmb_measure_gpu PUBLIC PMB_MEASURE_GPU)
  target_include_directories(pmb_measure_gpu PUBLIC ${CMAKE_CURRENT_LIST_DIR})
else()
  add_library(pmb_measure_gpu INTERFACE)
  target_include_directories(pmb_measure_gpu INTERFACE ${CMAKE_CURRENT_LIST_DIR})
endif()
