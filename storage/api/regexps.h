// The regular expressions of one request, compiled by RE2, and what they may take: one a number of
// bytes, all together kTogether times that. Copies share what is left.
//
//   Errors   kInvalidArgument: no regular expression of RE2. kTooLarge: its program is larger than
//            one, or all, may be; the message names the setting.
//   Threads  one at a time, with its copies; the compiled ones on any thread.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "common/result.h"

namespace re2 {
class RE2;
}

namespace halite::storage {

class Regexps {
 public:
  // A request may compile for about a tenth of a second.
  static constexpr std::size_t kTogether = 32;

  explicit Regexps(std::size_t bytes_max = 1 << 20)
      : bytes_max_(bytes_max), left_(std::make_shared<std::size_t>(kTogether * bytes_max)) {}

  enum class Dot : bool { kNoLineFeed, kAnything };  // what "." matches
  // `label`: what the pattern is for, in messages.
  [[nodiscard]] Result<std::shared_ptr<const re2::RE2>> compile(const std::string& pattern,
                                                                std::string_view label,
                                                                Dot dot) const;

 private:
  std::size_t bytes_max_;
  std::shared_ptr<std::size_t> left_;
};

}  // namespace halite::storage
