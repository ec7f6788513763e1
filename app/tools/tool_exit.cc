#include "app/tools/tool_exit.h"

#include <exception>
#include <new>

#include <fmt/format.h>

namespace halite::app {

int exit_status(const std::function<int()>& tool, const Print& err) {
  constexpr int kNotDone = 2;
  try {
    return tool();
  } catch (const std::bad_alloc&) {
    err("stopped early: not enough memory");
  } catch (const std::exception& error) {
    err(fmt::format("stopped early: {}", error.what()));
  }
  return kNotDone;
}

}  // namespace halite::app
