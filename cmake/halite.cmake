# One static library per folder: halite_library(ingest SOURCES a.cc b.cc DEPENDS halite_storage ...)
function(halite_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(halite_${name} STATIC ${ARG_SOURCES})
  target_link_libraries(halite_${name} PUBLIC ${ARG_DEPENDS})
endfunction()

# One test program per folder: halite_test(ingest LABEL unit SOURCES a_test.cc DEPENDS halite_ingest)
function(halite_test name)
  cmake_parse_arguments(ARG "" "LABEL;TIMEOUT" "SOURCES;DEPENDS" ${ARGN})
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${name}_test ${ARG_SOURCES})
  target_link_libraries(${name}_test PRIVATE ${ARG_DEPENDS} GTest::gtest GTest::gmock
                                             GTest::gtest_main)
  target_compile_definitions(${name}_test
                             PRIVATE HALITE_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                                     HALITE_BINARY_DIR="${CMAKE_BINARY_DIR}")
  add_test(NAME ${name} COMMAND ${name}_test)
  set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT}
                       ENVIRONMENT "${HALITE_TEST_ENVIRONMENT}")
endfunction()
