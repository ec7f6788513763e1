// Turns failed assertions of Boost.Beast into an exception, so that malformed input closes one
// connection instead of ending the process. docs/decisions/0038-assertions-of-libraries.md says
// why.
//
// A file that includes Boost.Beast includes this before, so that all of Beast's code is compiled
// with the same assertions. Asio's are not touched.
#pragma once

#include <optional>
#include <stdexcept>
#include <string>

#define BOOST_ENABLE_ASSERT_HANDLER
#include <boost/assert.hpp>  // defines BOOST_ASSERT anew, each time that it is included

namespace halite {

// A promise that a library makes itself was broken. The object that it is about may only be
// destroyed.
class AssertionFailed : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

// Calls step(). The assertion that failed in it and where, if one did.
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
