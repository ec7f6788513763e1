// Helpers of libraries that are preloaded into the server (LD_PRELOAD) and replace functions of the
// C library.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <string>

namespace halite::test {

// The function that a replaced one would have been.
template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
}

// A variable of the environment; empty if it is not set.
inline std::string variable(const char* name) {
  const char* const value = std::getenv(name);  // NOLINT(concurrency-mt-unsafe): nobody writes it
  return value == nullptr ? "" : value;
}

}  // namespace halite::test
