// Random series and points, with names, times and values that are hard to write as text.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <limits>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/data_point.h"
#include "ingest/ingest_batch.h"

namespace halite::ingest {

// `plain`: only those that every format can say.
class RandomPoints {
 public:
  RandomPoints(std::uint64_t seed, bool plain) : random_(seed), plain_(plain) {}

  SeriesName series() {
    SeriesName name{.metric = word(), .tags = {}};
    const std::size_t tags = plain_ ? 1 + below(4) : below(5);
    for (std::size_t i = 0; i < tags; ++i) {
      Tag tag{.key = word(), .value = word()};
      if (std::ranges::find(name.tags, tag.key, &Tag::key) == name.tags.end()) {
        name.tags.push_back(std::move(tag));
      }
    }
    std::ranges::sort(name.tags);
    return name;
  }

  PointBits point() {
    PointBits point;
    point.time = time();
    if (below(3) == 0) {
      point.value = integer();
    } else {
      point.flags = kFloat;
      point.value = real();
    }
    if (point.time % 1000 != 0) point.flags |= kMillis;
    return point;
  }

  std::size_t below(std::size_t end) { return random_() % end; }

 private:
  std::string word() {
    static constexpr std::string_view kNasty[] = {
        " ",     ",",      "=",  "\"",     "\\",       "{",         "}",   "#",    "'",
        "\n",    "\r",     "\t", ".",      "/",        "-",         ":",   ";",    "\\n",
        "value", "metric", "_",  "time",   "__name__", "\xC3\xBC",  "put", "\x01", "\x7F",
        "[",     "]",      "é",  "\u20AC", "null",     "\U0001F600"};
    std::string text;
    for (std::size_t i = below(3) + (plain_ ? 1 : 0); i > 0; --i) {
      text += static_cast<char>('a' + below(26));
    }
    if (!plain_) {
      for (std::size_t i = below(3); i > 0; --i) text += kNasty[below(std::size(kNasty))];
      if (below(2) == 0) text += static_cast<char>('a' + below(26));
    }
    if (text.empty()) text = "x";
    return text;
  }

  TimestampMs time() {
    const TimestampMs usual = 1'600'000'000'000 + static_cast<TimestampMs>(below(1'000'000'000));
    if (plain_) return below(2) == 0 ? usual : usual / 1000 * 1000;
    switch (below(6)) {
      case 0:
        return static_cast<TimestampMs>(below(10'000));
      case 1:
        return static_cast<TimestampMs>(below(std::size_t{1} << 33));
      case 2:
        return kTimestampMax - static_cast<TimestampMs>(below(10'000));
      default:
        return below(2) == 0 ? usual : usual / 1000 * 1000;
    }
  }

  ValueBits integer() {
    constexpr std::int64_t kDoubleMax = std::int64_t{1}
                                        << 53;  // every format can say integers to it
    switch (below(4)) {
      case 0:
        return integer_bits(static_cast<std::int64_t>(random_()) / (plain_ ? 1 << 11 : 1));
      case 1:
        if (plain_) return integer_bits(below(2) == 0 ? -kDoubleMax : kDoubleMax);
        return integer_bits(below(2) == 0 ? std::numeric_limits<std::int64_t>::min()
                                          : std::numeric_limits<std::int64_t>::max());
      default:
        return integer_bits(static_cast<std::int64_t>(below(2'000)) - 1'000);
    }
  }

  ValueBits real() {
    constexpr double kSpecial[] = {0.0,
                                   -0.0,
                                   5e-324,
                                   -2.2250738585072009e-308,
                                   std::numeric_limits<double>::max(),
                                   9007199254740993.0,
                                   1e22,
                                   1e23,
                                   0.1,
                                   1e15,
                                   123456789012345678.0};
    switch (below(4)) {
      case 0: {
        ValueBits bits = random_();
        while (plain_ && !std::isfinite(as_double(bits))) bits = random_();
        return bits;
      }
      case 1:
        return double_bits(kSpecial[below(std::size(kSpecial))]);
      case 2:
        if (plain_) return double_bits(3);
        return std::vector<ValueBits>{0x7FF0'0000'0000'0000, 0xFFF0'0000'0000'0000,
                                      0x7FF8'0000'0000'0001, 0x7FF8'0000'0000'0000,
                                      0x7FF0'0000'0000'0002}[below(5)];
      default:
        return double_bits(static_cast<double>(below(100'000)) / 100.0);
    }
  }

  std::mt19937_64 random_;
  const bool plain_;
};

}  // namespace halite::ingest
