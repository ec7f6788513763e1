# Flags for all of our code. HALITE_SANITIZE = "address,undefined" or "thread" instruments it.
set(HALITE_SANITIZE "" CACHE STRING "Sanitizers to build with")
option(HALITE_LIBFUZZER "Build the fuzzers as libFuzzer programs" OFF)
option(HALITE_FUZZ_MANY "Fuzzers are to run quickly rather than to see all" OFF)
# storage/catalog/epochs.h
set(HALITE_CHECK_SERIES_IDS_DEFAULT OFF)
if(CMAKE_BUILD_TYPE STREQUAL "Debug" OR HALITE_SANITIZE)
  set(HALITE_CHECK_SERIES_IDS_DEFAULT ON)
endif()
option(HALITE_CHECK_SERIES_IDS "Stop the process when a stale series id is used"
       ${HALITE_CHECK_SERIES_IDS_DEFAULT})
if(HALITE_CHECK_SERIES_IDS)
  add_compile_definitions(HALITE_CHECK_SERIES_IDS)
endif()

find_program(CCACHE ccache)
if(CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  # What precompiled.cmake compiles would else keep it from remembering anything.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros ${CCACHE})
endif()

find_program(MOLD mold)
if(MOLD AND NOT HALITE_FUZZ_MANY)
  add_link_options(-fuse-ld=mold)
endif()

set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O3 -g1")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1")
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Werror=return-type)
if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_compile_options(-Werror -Wno-gnu-statement-expression)
endif()
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}/=)
include_directories(${CMAKE_SOURCE_DIR})

# SSE4.2 and POPCNT are in every x86-64 server of the last ten years; simdjson picks more at run time.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  add_compile_options(-march=x86-64-v2)
endif()

# On arm64 as on x86-64-v2: no fused multiplications in our formulas, and `char` has a sign.
add_compile_options(-ffp-contract=off -fsigned-char)

add_compile_definitions(
  BOOST_ASIO_SEPARATE_COMPILATION BOOST_ASIO_NO_DEPRECATED BOOST_BEAST_SEPARATE_COMPILATION)

if(HALITE_SANITIZE)
  # The optimizer takes away half of what there is to find, and half of the time.
  set(CMAKE_CXX_FLAGS_DEBUG "-O0 -g1")
  add_compile_options(-fsanitize=${HALITE_SANITIZE} -fno-omit-frame-pointer
                      -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${HALITE_SANITIZE})
endif()

# Tests compile in half the time so. What they test is in libraries.
set(HALITE_TEST_OPTIMIZED -O0)

# AddressSanitizer finds what object-size would, which takes a seventh of the time to compile.
if(HALITE_SANITIZE MATCHES "address")
  add_compile_options(-fno-sanitize=object-size)
endif()

# ThreadSanitizer does not see fences, and Asio's counts of references end in one. Without std::atomic
# it takes Boost's, which order by the count itself.
if(HALITE_SANITIZE MATCHES "thread")
  add_compile_definitions(BOOST_ASIO_DISABLE_STD_ATOMIC)
endif()

# What fuzzers are made of counts where it has been; only they get libFuzzer's main(). Tests compile
# a fifth faster without.
if(HALITE_LIBFUZZER)
  set(HALITE_COVERAGE -fsanitize=fuzzer-no-link)
endif()
# Comparisons that are watched show libFuzzer what an input lacks, and take half of the time; checks of
# each pointer that is followed are left to the builds that count less. What no input can reach goes,
# with its counters, all of which are looked through after each input: of the linkers that are to be
# had GNU's knows how.
if(HALITE_FUZZ_MANY)
  list(APPEND HALITE_COVERAGE -fno-sanitize-coverage=trace-cmp
       -fsanitize-coverage-ignorelist=${CMAKE_SOURCE_DIR}/cmake/not_counted.txt)
  add_compile_options(-ffunction-sections -fdata-sections -fno-sanitize=null,alignment,vptr
                      -fno-sanitize-address-use-after-scope)
  add_link_options(-fuse-ld=bfd -Wl,--gc-sections -Wl,-z,start-stop-gc)
endif()
