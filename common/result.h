// Result<T>: the return type of functions that can fail. It holds a T or an Error.
//
// Errors are values on every request path. Only constructors at start throw exceptions.
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
  kNotFound,         // no such name, row or object
  kInvalidArgument,  // the caller's input is wrong; a retry fails again
  kTooLarge,         // a named limit was exceeded
  kConflict,         // a concurrent change came first, or it exists in another form
  kUnavailable,      // try later
  kTimeout,          // took longer than its limit
  kOverloaded,       // too much at once; retry later and more slowly
  kCorruption,       // stored bytes are damaged; do not retry
  kUnsupported,      // understood, but not supported
  kCancelled,        // the client disconnected or cancelled
  kUnauthenticated,  // no credentials, or wrong ones
  kForbidden,        // authenticated, but without permission
  kInternal,         // a bug in Halite
};

[[nodiscard]] std::string_view errc_name(Errc code);

struct Error {
  Errc code = Errc::kInternal;
  std::string message;  // one sentence: what was expected, what was found, the value
  std::string details;  // longer text on request; empty = none
};

// A class instead of an alias, because only a class can be [[nodiscard]].
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
