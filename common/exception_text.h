// The message of an exception that ended a coroutine or a thread.
#pragma once

#include <exception>
#include <string>

namespace halite {

[[nodiscard]] inline std::string exception_text(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const std::exception& error) {
    return error.what();
  } catch (...) {
    return "no std::exception";
  }
}

}  // namespace halite
