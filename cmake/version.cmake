# Writes app/version_text.h into the build folder: what `halite --version` and /api/version say.
# Runs at every build and touches the file only when something changed, so nothing is built for
# nothing. The time is the commit's, so that one commit always gives one binary.
if(NOT DEFINED HALITE_VERSION_OUT)
  set(HALITE_VERSION_HEADER ${CMAKE_BINARY_DIR}/generated/app/version_text.h)
  add_custom_target(
    halite_version
    COMMAND ${CMAKE_COMMAND} -DHALITE_VERSION_OUT=${HALITE_VERSION_HEADER}
            -DHALITE_SOURCE=${CMAKE_SOURCE_DIR} -DHALITE_VERSION=${PROJECT_VERSION}
            -P ${CMAKE_SOURCE_DIR}/cmake/version.cmake
    BYPRODUCTS ${HALITE_VERSION_HEADER}
    COMMENT "")
  add_dependencies(generated halite_version)
  return()
endif()

function(ask_git variable otherwise)
  execute_process(
    COMMAND git -C ${HALITE_SOURCE} ${ARGN}
    OUTPUT_VARIABLE answer OUTPUT_STRIP_TRAILING_WHITESPACE
    ERROR_QUIET RESULT_VARIABLE failed)
  if(failed)
    set(answer "${otherwise}")
  endif()
  set(${variable} "${answer}" PARENT_SCOPE)
endfunction()

ask_git(short_revision "unknown" rev-parse --short HEAD)
ask_git(full_revision "unknown" rev-parse HEAD)
ask_git(branch "unknown" rev-parse --abbrev-ref HEAD)
ask_git(committed_s "0" show -s --format=%ct HEAD)
ask_git(changes "" status --porcelain --untracked-files=no)
if(changes STREQUAL "")
  set(repo_status "MINT")
else()
  set(repo_status "MODIFIED")
endif()

file(CONFIGURE OUTPUT ${HALITE_VERSION_OUT} @ONLY CONTENT
[[// Written by cmake/version.cmake.
#pragma once

#include <cstdint>

namespace halite::app {

inline constexpr const char* kVersion = "@HALITE_VERSION@";
inline constexpr const char* kShortRevision = "@short_revision@";
inline constexpr const char* kFullRevision = "@full_revision@";
inline constexpr const char* kBranch = "@branch@";
inline constexpr const char* kRepoStatus = "@repo_status@";
inline constexpr std::int64_t kCommittedS = @committed_s@;

}  // namespace halite::app
]])
