# The headers of others that most of our files read, compiled once: half of a build's time. Only what
# means the same in every program may stand here, as all flags and definitions must be the same.
option(HALITE_PRECOMPILED "Compile headers of others once" ON)

function(halite_precompile name)
  cmake_parse_arguments(ARG "" "" "HEADERS;DEPENDS" ${ARGN})
  file(CONFIGURE OUTPUT ${CMAKE_BINARY_DIR}/${name}.cc CONTENT "// Has the headers compiled.\n")
  add_library(${name} OBJECT ${CMAKE_BINARY_DIR}/${name}.cc)
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS})
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
  if(CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    # The same bytes from the same headers: ccache goes by them.
    target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp")
  endif()
endfunction()

# Programs and libraries read the same precompiled headers.
set(CMAKE_CXX_COMPILE_OPTIONS_PIE -fPIC)
add_compile_options(-pthread)

if(HALITE_PRECOMPILED)
  set(standard
      <algorithm> <array> <atomic> <bit> <chrono> <cmath> <cstddef> <cstdint> <cstring> <deque>
      <expected> <functional> <limits> <map> <memory> <mutex> <optional> <set> <shared_mutex> <span>
      <stop_token> <string> <string_view> <thread> <unordered_map> <utility> <variant> <vector>
      <boost/asio/any_io_executor.hpp> <boost/asio/awaitable.hpp> <boost/asio/co_spawn.hpp>
      <boost/asio/steady_timer.hpp> <boost/asio/this_coro.hpp> <boost/asio/thread_pool.hpp>
      <boost/asio/use_awaitable.hpp> <boost/unordered/unordered_flat_map.hpp> <fmt/format.h>
      ${CMAKE_SOURCE_DIR}/common/fmt_once.h)
  set(everywhere Boost::headers Threads::Threads fmt::fmt spdlog::spdlog tomlplusplus::tomlplusplus)
  halite_precompile(halite_precompiled HEADERS ${standard} DEPENDS ${everywhere})
  target_compile_options(halite_precompiled PRIVATE ${HALITE_COVERAGE})
  halite_precompile(halite_precompiled_tests
    HEADERS ${standard} <random> <gmock/gmock.h> <gtest/gtest.h>
    DEPENDS ${everywhere} GTest::gtest GTest::gmock)
  target_compile_options(halite_precompiled_tests PRIVATE ${HALITE_TEST_OPTIMIZED})
endif()

# Has a target read them that uses halite_common.
function(halite_use_precompiled target from)
  if(HALITE_PRECOMPILED)
    target_precompile_headers(${target} REUSE_FROM ${from})
  endif()
endfunction()
