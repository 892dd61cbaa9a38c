# SPDX-License-Identifier: BSD-3-Clause
# pmb_test_papers_pyramid.c, for the CPU's systems, the GPU's, and the GPU's on the emulator; included by CMakeLists.txt.
set(papers_environment)
pmb_add_papers_program(pmb_test_papers_pyramid pmb_test_papers_pyramid.c)
pmb_add_papers_tests(pmb_test_papers_pyramid pmb_test_papers_pyramid.c papers.pyramid papers)
if(TARGET pmb_papers_cuda)
  pmb_add_papers_program(pmb_test_papers_pyramid_gpu pmb_test_papers_pyramid.c)
  target_link_libraries(pmb_test_papers_pyramid_gpu PRIVATE pmb_papers_cuda)
  target_compile_definitions(pmb_test_papers_pyramid_gpu PRIVATE PAPERS_ON_GPU)
  pmb_add_papers_tests(pmb_test_papers_pyramid_gpu pmb_test_papers_pyramid.c papers.gpu.pyramid gpu gpu)
endif()
if(TARGET pmb_emulator)
  pmb_add_papers_program(pmb_emulated_papers_pyramid pmb_test_papers_pyramid.c)
  target_compile_definitions(pmb_emulated_papers_pyramid PRIVATE PAPERS_ON_GPU)
  # With these objects first nothing of CUDA is taken from the core's library.
  target_sources(pmb_emulated_papers_pyramid PRIVATE
    $<TARGET_OBJECTS:pmb_papers_emulated> $<TARGET_OBJECTS:pmb_emulated>)
  target_link_libraries(pmb_emulated_papers_pyramid PRIVATE pmb_emulator)
  set_target_properties(pmb_emulated_papers_pyramid PROPERTIES LINKER_LANGUAGE CXX)
  set(papers_environment PMB_EMULATOR_GPUS=1)
  pmb_add_papers_tests(pmb_emulated_papers_pyramid pmb_test_papers_pyramid.c papers.emulated.pyramid emulated)
endif()
