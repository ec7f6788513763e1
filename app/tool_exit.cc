#include "app/tool_exit.h"

#include <exception>
#include <new>

#include <fmt/format.h>

namespace halite::app {

int exit_status(const std::function<int()>& tool, const Print& err) {
  constexpr int kNotDone = 2;
  try {
    return tool();
  } catch (const std::bad_alloc&) {
    err("ended before it was done: there is not enough memory");
  } catch (const std::exception& error) {
    err(fmt::format("ended before it was done: {}", error.what()));
  }
  return kNotDone;
}

}  // namespace halite::app
