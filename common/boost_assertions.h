// Turns failed assertions of Boost.Beast into an exception, so that malformed input closes one
// connection instead of ending the process. docs/decisions/0038-assertions-of-libraries.md gives
// the reasons.
//
// Include this header before Boost.Beast in every file that uses it, so that all of Beast's code is
// compiled with the same assertions. Asio's assertions are unchanged.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

#define BOOST_ENABLE_ASSERT_HANDLER
#include <boost/assert.hpp>  // redefines BOOST_ASSERT at each inclusion

namespace halite {

// An invariant of a library is broken. The object concerned may only be destroyed.
class AssertionFailed : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// Calls step(). Returns the text and place of the assertion that failed in it, if any.
template <class Step>
[[nodiscard]] std::optional<std::string> failed_assertion(Step step) {
  try {
    step();
  } catch (const AssertionFailed& failed) {
    return failed.what();
  }
  return std::nullopt;
}

}  // namespace halite
