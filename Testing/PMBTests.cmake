# SPDX-License-Identifier: BSD-3-Clause
# Labels of tests. Each test has a label for its subject and one for its tier:
#   quick  every contract at small sizes, for ./pmb test; the target `quick` builds the programs of these tests
#   full   larger sizes, more random input, benchmarks, packages: ./pmb test --all runs them too
#   gpu    needs a GPU, and is skipped without one
# Tests that .ci/run also runs with sanitizers have the label `asan` or `tsan` too. The targets of these names build their
# programs.
# No TIMEOUT is set: ctest's own, 1500 s, is ten times what the longest test needs on an idle machine.
include_guard(GLOBAL)
foreach(target IN ITEMS quick asan tsan)
  add_custom_target(${target})
endforeach()

# Programs of Testing/Kernels that GPU/ and Emulator/ run, too, with PMB_TEST_DEVICE=gpu.
set(pmb_gpu_kernel_tests bytes emit histogram particles particles_attributes particles_parts
  particles_sample particles_shapes progress reference CACHE INTERNAL "")

# pmb_add_home_test(NAME COMMAND...): adds a test that may start ParaView, with a home folder of its own (own_home.sh).
set(pmb_own_home "${CMAKE_CURRENT_LIST_DIR}/own_home.sh" CACHE INTERNAL "")
function(pmb_add_home_test name)
  add_test(NAME ${name} COMMAND "${pmb_own_home}" "${CMAKE_BINARY_DIR}/homes/${name}" ${ARGN})
endfunction()

# pmb_label_tests(SUBJECT TIER TEST...)
function(pmb_label_tests subject tier)
  set_tests_properties(${ARGN} PROPERTIES LABELS "${subject};${tier}")
endfunction()

# pmb_add_case_tests(PROGRAM SOURCE PREFIX SUBJECT TIER [LABELS LABEL...] [FULL CASE...] [WITHOUT CASE...]
#   [PROPERTIES NAME VALUE...])
# Adds a test PREFIX.CASE per case of a program; the cases are the lines of the source that start with "  CASE(".
# LABELS: asan, tsan. FULL: cases of the tier `full` without these labels. WITHOUT: cases to omit.
function(pmb_add_case_tests program source prefix subject tier)
  cmake_parse_arguments(PARSE_ARGV 5 cases "" "" "LABELS;FULL;WITHOUT;PROPERTIES")
  get_filename_component(source ${source} ABSOLUTE)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${source})
  file(STRINGS ${source} lines REGEX "^  CASE\\(.*\\)$")
  if(NOT lines)
    message(FATAL_ERROR "No cases found in ${source}")
  endif()
  foreach(label IN LISTS tier cases_LABELS)
    if(TARGET ${label})
      add_dependencies(${label} ${program})
    endif()
  endforeach()
  foreach(line IN LISTS lines)
    string(REGEX REPLACE "^  CASE\\((.*)\\)$" "\\1" case "${line}")
    if(case IN_LIST cases_WITHOUT)
      continue()
    endif()
    set(labels ${subject} ${tier} ${cases_LABELS})
    if(case IN_LIST cases_FULL)
      set(labels ${subject} full)
    endif()
    add_test(NAME ${prefix}.${case} COMMAND ${program} ${case})
    set_tests_properties(${prefix}.${case} PROPERTIES LABELS "${labels}" SKIP_RETURN_CODE 77 ${cases_PROPERTIES})
  endforeach()
endfunction()
