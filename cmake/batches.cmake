# Sources of a target read several at once. A checker that walks all headers of whatever it reads then walks
# them once for all of a batch: clang-tidy over everything takes a third of the time. Compilers gain little
# by it, as headers are precompiled and generating code takes longest.
set(HALITE_BATCH 0 CACHE STRING "How many files of a target are read at once (0: each by itself)")
option(HALITE_ONLY_READ "Nothing is compiled: targets are for a checker's eyes" OFF)
if(HALITE_BATCH)
  find_package(Python3 REQUIRED COMPONENTS Interpreter)
endif()

function(halite_batches target)
  if(NOT HALITE_BATCH)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "\\.cc$")
  execute_process(
    COMMAND ${Python3_EXECUTABLE} ${CMAKE_SOURCE_DIR}/cmake/batches.py ${HALITE_BATCH} ${sources}
    WORKING_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR} COMMAND_ERROR_IS_FATAL ANY
    OUTPUT_VARIABLE batches OUTPUT_STRIP_TRAILING_WHITESPACE)
  string(REPLACE ";" "|" batches "${batches}")
  string(REPLACE "\n" ";" batches "${batches}")
  set(number 0)
  foreach(batch ${batches})
    string(REPLACE "|" ";" files "${batch}")
    set_source_files_properties(${files} PROPERTIES UNITY_GROUP batch${number})
    math(EXPR number "${number} + 1")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# Adds a program of one file to those that a checker reads at once; ENTRY is the function that each of them has.
#   halite_read_together(benches ENTRY main SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/log_bench.cc DEPENDS halite_log)
function(halite_read_together group)
  cmake_parse_arguments(ARG "" "ENTRY;SOURCE" "DEPENDS" ${ARGN})
  if(NOT TARGET ${group})
    add_library(${group} OBJECT EXCLUDE_FROM_ALL)
    halite_use_precompiled(${group} halite_precompiled)
    set_target_properties(
      ${group}
      PROPERTIES UNITY_BUILD ON
                 UNITY_BUILD_BATCH_SIZE 0
                 UNITY_BUILD_UNIQUE_ID PROGRAM_ID
                 UNITY_BUILD_CODE_BEFORE_INCLUDE "#define ${ARG_ENTRY} PROGRAM_ID"
                 UNITY_BUILD_CODE_AFTER_INCLUDE "#undef ${ARG_ENTRY}")
  endif()
  target_sources(${group} PRIVATE ${ARG_SOURCE})
  target_link_libraries(${group} PRIVATE ${ARG_DEPENDS})
endfunction()
