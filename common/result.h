// What may fail returns Result<T>: a T, or an Error that says why.
//
// Errors are values on every request path; exceptions are for constructors at start-up.
//   TRY(auto x, parse(text));         in a function that returns Result
//   TRY_VOID(check(x));
//   CO_TRY(auto y, co_await load(x)); in a coroutine that returns Task
//   CO_TRY_VOID(co_await store(y));
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <utility>

namespace halite {

enum class Errc : std::uint8_t {
  kNotFound,         // no such name, row or thing
  kInvalidArgument,  // the caller's input is wrong; the same call will fail again
  kTooLarge,         // a named limit was met
  kConflict,         // somebody else got there first, or it exists with another shape
  kUnavailable,      // try later
  kTimeout,          // took longer than its limit
  kOverloaded,       // too much at once; try later and slower
  kCorruption,       // stored bytes are damaged; do not try again
  kUnsupported,      // understood, but not offered
  kCancelled,        // the asker went away or stopped it
  kUnauthenticated,  // nobody known asks, or gives the wrong password
  kForbidden,        // known, and may not
  kInternal,         // a fault of ours
};

[[nodiscard]] std::string_view errc_name(Errc code);

struct Error {
  Errc code = Errc::kInternal;
  std::string message;  // one sentence: what was wanted, what was found, the value
  std::string details;  // longer text for those who ask; empty = none
};

// [[nodiscard]] is why this is a class of its own and not an alias.
template <class T>
class [[nodiscard]] Result : public std::expected<T, Error> {
 public:
  using std::expected<T, Error>::expected;
};

[[nodiscard]] inline std::unexpected<Error> fail(Errc code, std::string message,
                                                 std::string details = {}) {
  return std::unexpected<Error>(Error{code, std::move(message), std::move(details)});
}

}  // namespace halite

#define HALITE_CONCAT_(a, b) a##b
#define HALITE_CONCAT(a, b) HALITE_CONCAT_(a, b)
#define HALITE_TRY_(tmp, leave, declaration, ...)              \
  auto tmp = (__VA_ARGS__);                                    \
  if (!tmp) leave ::std::unexpected(::std::move(tmp).error()); \
  declaration = *::std::move(tmp)
#define HALITE_TRY_VOID_(tmp, leave, ...) \
  if (auto tmp = (__VA_ARGS__); !tmp) leave ::std::unexpected(::std::move(tmp).error())

#define TRY(declaration, ...) \
  HALITE_TRY_(HALITE_CONCAT(try_, __LINE__), return, declaration, __VA_ARGS__)
#define TRY_VOID(...) HALITE_TRY_VOID_(HALITE_CONCAT(try_, __LINE__), return, __VA_ARGS__)
#define CO_TRY(declaration, ...) \
  HALITE_TRY_(HALITE_CONCAT(try_, __LINE__), co_return, declaration, __VA_ARGS__)
#define CO_TRY_VOID(...) HALITE_TRY_VOID_(HALITE_CONCAT(try_, __LINE__), co_return, __VA_ARGS__)
