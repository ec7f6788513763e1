// Formats consecutive timestamps as digits. It reuses all but the last four digits of the previous
// one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <fmt/format.h>

namespace halite::web {

class TimeText {
 public:
  static constexpr std::size_t kBytesMax = 20;

  // Writes at most kBytesMax bytes, without a terminating zero. Returns the end.
  char* write(char* to, std::int64_t time) {
    if (time < kPart) return copy(to, fmt::format_int(time));
    if (time / kPart != front_) {
      front_ = time / kPart;
      front_size_ =
          static_cast<std::size_t>(copy(front_text_, fmt::format_int(front_)) - front_text_);
    }
    to = std::copy(front_text_, front_text_ + front_size_, to);
    auto rest = static_cast<int>(time % kPart);
    for (int unit = kPart / 10; unit > 0; unit /= 10) {
      *to++ = static_cast<char>('0' + rest / unit);
      rest %= unit;
    }
    return to;
  }

 private:
  static constexpr int kPart = 10'000;

  static char* copy(char* to, const fmt::format_int& text) {
    return std::copy(text.data(), text.data() + text.size(), to);
  }

  std::int64_t front_ = -1;
  char front_text_[kBytesMax] = {};
  std::size_t front_size_ = 0;
};

}  // namespace halite::web
