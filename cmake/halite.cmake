# The library of a folder of ours: storage/api is halite_storage_api. Other names stay as they are.
function(halite_targets out)
  set(targets "")
  foreach(name ${ARGN})
    if(name MATCHES "^(common|storage|ingest|query|web|app)(/|$)")
      string(REPLACE "/" "_" name "halite_${name}")
    endif()
    list(APPEND targets ${name})
  endforeach()
  set(${out} ${targets} PARENT_SCOPE)
endfunction()

# The static library of this folder. It names each folder that its files include:
# halite_library(SOURCES a.cc b.cc DEPENDS common storage/api Boost::json)
# tests/unit/tree_test.cc holds the names against the #include lines.
function(halite_library)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${CMAKE_SOURCE_DIR} OUTPUT_VARIABLE folder)
  halite_targets(name ${folder})
  halite_targets(depends ${ARG_DEPENDS})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${depends})
  target_compile_options(${name} PRIVATE ${HALITE_COVERAGE})
  halite_use_precompiled(${name} halite_precompiled)
endfunction()

# Sources and headers made while building; clang-tidy needs them before it reads ours.
add_custom_target(generated)
if(HALITE_PRECOMPILED)
  add_dependencies(generated halite_precompiled halite_precompiled_tests)
endif()
# Every fuzzer, for ./dev fuzz; the programs of ./dev e2e and ./dev test-hbase.
add_custom_target(fuzzers)
add_custom_target(e2e_programs)
add_custom_target(hbase_programs)

# What tests run with. The suppressions name only libraries that are not instrumented.
set(HALITE_TEST_ENVIRONMENT
    "ASAN_OPTIONS=detect_stack_use_after_return=1:strict_string_checks=1:malloc_context_size=10"
    "UBSAN_OPTIONS=print_stacktrace=1"
    "LSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/sanitizers/lsan.txt:print_suppressions=0"
    "TSAN_OPTIONS=suppressions=${CMAKE_SOURCE_DIR}/tests/sanitizers/tsan.txt:halt_on_error=1:second_deadlock_stack=1"
    "ASAN_SYMBOLIZER_PATH=/usr/bin/llvm-symbolizer-19"
    "TSAN_SYMBOLIZER_PATH=/usr/bin/llvm-symbolizer-19")

# One test program per folder: halite_test(ingest LABEL unit SOURCES a_test.cc DEPENDS ingest)
# COST: one that takes long begins early. ONE_THREAD: it has nothing to show ThreadSanitizer.
function(halite_test name)
  cmake_parse_arguments(ARG "ONE_THREAD" "LABEL;TIMEOUT;COST" "SOURCES;DEPENDS" ${ARGN})
  if(ARG_ONE_THREAD AND HALITE_SANITIZE MATCHES "thread")
    return()
  endif()
  if(NOT ARG_LABEL)
    set(ARG_LABEL unit)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 600)  # of a sanitized one on two busy cores
  endif()
  halite_targets(depends ${ARG_DEPENDS})
  add_executable(${name}_test ${ARG_SOURCES})
  target_link_libraries(${name}_test PRIVATE ${depends} GTest::gtest GTest::gmock
                                             GTest::gtest_main)
  if(ARG_DEPENDS)  # or it knows nothing of ours
    target_link_libraries(${name}_test PRIVATE halite_test_tasks)
    halite_use_precompiled(${name}_test halite_precompiled_tests)
  endif()
  target_compile_options(${name}_test PRIVATE ${HALITE_TEST_OPTIMIZED})
  target_compile_definitions(${name}_test
                             PRIVATE HALITE_SOURCE_DIR="${CMAKE_SOURCE_DIR}"
                                     HALITE_BINARY_DIR="${CMAKE_BINARY_DIR}")
  if(ARG_LABEL STREQUAL "hbase")
    add_dependencies(hbase_programs ${name}_test)
  endif()
  add_test(NAME ${name} COMMAND ${name}_test)
  set_tests_properties(${name} PROPERTIES LABELS ${ARG_LABEL} TIMEOUT ${ARG_TIMEOUT}
                       COST "${ARG_COST}" ENVIRONMENT "${HALITE_TEST_ENVIRONMENT}")
endfunction()

# One fuzzer: tests/fuzz/<name>_fuzz.cc with seeds in tests/fuzz/corpus/<name>/. With
# HALITE_LIBFUZZER it is a libFuzzer program, elsewhere one that runs its seeds and mutations of
# them; either way ctest has a short run of it, but not under ThreadSanitizer: none has threads.
# ABORTS: that run must end in an abort.
#   halite_fuzzer(put_line DEPENDS ingest)
function(halite_fuzzer name)
  cmake_parse_arguments(ARG "ABORTS" "" "DEPENDS" ${ARGN})
  if(HALITE_SANITIZE MATCHES "thread")
    return()
  endif()
  halite_targets(depends ${ARG_DEPENDS})
  set(program ${name}_fuzz)
  set(source ${CMAKE_SOURCE_DIR}/tests/fuzz/${program}.cc)
  set(seeds ${CMAKE_SOURCE_DIR}/tests/fuzz/corpus/${name})
  set(verdict 0)
  add_executable(${program} ${source})
  target_compile_options(${program} PRIVATE ${HALITE_COVERAGE})
  target_link_libraries(${program} PRIVATE ${depends})
  if(ARG_DEPENDS)
    target_link_libraries(${program} PRIVATE halite_test_tasks)
    halite_use_precompiled(${program} halite_precompiled)
  endif()
  add_dependencies(fuzzers ${program})
  if(HALITE_LIBFUZZER)
    target_link_options(${program} PRIVATE -fsanitize=fuzzer)
    set(grown ${CMAKE_BINARY_DIR}/corpus/${name})  # new inputs go here, never into the tree
    file(MAKE_DIRECTORY ${grown})
    set(runs 20000)
    if(ARG_ABORTS)
      set(runs 5000000)  # they are short, and it stops at the finding
    endif()
    # An unoptimized build of a slow parser does not come to so many in a reasonable time.
    set(command "\"$0\" -runs=${runs} -max_total_time=30 -seed=1 -max_len=4096 ${grown} \"$1\"")
    if(ARG_ABORTS)
      set(verdict 77)  # libFuzzer's word for a finding
    endif()
  else()
    target_link_libraries(${program} PRIVATE fuzz_smoke)
    set(command "\"$0\" \"$1\"")
    if(ARG_ABORTS)
      set(verdict 134)  # 128 + SIGABRT
    endif()
  endif()
  add_test(NAME fuzz_${name} COMMAND sh -c "${command}; test $? = ${verdict}"
                                     $<TARGET_FILE:${program}> ${seeds})
  set_tests_properties(fuzz_${name} PROPERTIES LABELS fuzz TIMEOUT 300 WORKING_DIRECTORY
                                               ${CMAKE_BINARY_DIR} ENVIRONMENT
                                               "${HALITE_TEST_ENVIRONMENT}")
endfunction()

# The names of all tests below a folder.
function(halite_test_names folder out)
  get_property(names DIRECTORY ${folder} PROPERTY TESTS)
  get_property(below DIRECTORY ${folder} PROPERTY SUBDIRECTORIES)
  foreach(subfolder ${below})
    halite_test_names(${subfolder} more)
    list(APPEND names ${more})
  endforeach()
  set(${out} ${names} PARENT_SCOPE)
endfunction()

# Two tests of one name in two folders would silently share the labels of the later one, and run where
# only one of them is built.
function(halite_check_test_names)
  halite_test_names(${CMAKE_SOURCE_DIR} names)
  list(SORT names)
  set(before "")
  foreach(name ${names})
    if(name STREQUAL before)
      message(FATAL_ERROR "Two tests have the name ${name}.")
    endif()
    set(before ${name})
  endforeach()
endfunction()
