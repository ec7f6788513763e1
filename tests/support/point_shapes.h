// Runs of points of the shapes that metrics have, and of some that they should not: for the chunk
// codecs' tests and bench. The walks are tsbench's: normal steps between 0 and 100.
#pragma once

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "storage/tsdb/chunk/codecs/points.h"

namespace halite::storage::chunk {

using Random = std::mt19937_64;

// Gives the next value of a series.
struct ShapeValue {
  ValueBits bits = 0;
  bool is_float = false;
};
using NextValue = std::function<ShapeValue(Random&)>;

struct Shape {
  std::string name;
  std::function<NextValue(Random&)> start;  // a new series
};

inline double uniform(Random& random, double most) {
  return std::uniform_real_distribution<double>(0, most)(random);
}
inline double normal(Random& random) { return std::normal_distribution<double>()(random); }

inline ShapeValue integer(std::int64_t value) { return {integer_bits(value), false}; }
inline ShapeValue number(double value) { return {double_bits(value), true}; }

// decimals: 0 cuts to an integer, as tsbench does; -1 keeps all.
inline NextValue walk(Random& random, int decimals) {
  return [value = uniform(random, 100), decimals](Random& r) mutable {
    value = std::clamp(value + normal(r), 0.0, 100.0);
    if (decimals == 0) return integer(static_cast<std::int64_t>(value));
    if (decimals < 0) return number(value);
    const std::string text = fmt::format("{:.{}f}", value, decimals);
    double read = 0;
    std::from_chars(text.data(), text.data() + text.size(), read);
    return number(read);
  };
}

inline NextValue counter(Random& random, std::int64_t most, std::int64_t step_base = 0) {
  return [value = static_cast<std::int64_t>(random() % 1'000'000'000), most,
          step_base](Random& r) mutable {
    value += step_base + static_cast<std::int64_t>(r() % static_cast<std::uint64_t>(most));
    return integer(value);
  };
}

// What the targets are about.
inline std::vector<Shape> metric_shapes() {
  return {
      {"integer walk", [](Random& r) { return walk(r, 0); }},
      {"2-decimal walk", [](Random& r) { return walk(r, 2); }},
      {"4-decimal walk", [](Random& r) { return walk(r, 4); }},
      {"counter +0..999", [](Random& r) { return counter(r, 1000); }},
      {"full doubles walk", [](Random& r) { return walk(r, -1); }},
  };
}

inline std::vector<Shape> other_shapes() {
  return {
      {"constant integer",
       [](Random& r) {
         return NextValue(
             [v = integer(static_cast<std::int64_t>(r() % 1000))](Random&) { return v; });
       }},
      {"steady counter", [](Random& r) { return counter(r, 1, 7); }},
      {"counter +10^6..+10^6+99", [](Random& r) { return counter(r, 100, 1'000'000); }},
      {"counter with resets",
       [](Random& r) {
         return NextValue([next = counter(r, 1000), value = std::int64_t{0}](Random& q) mutable {
           value = q() % 2000 == 0 ? 0 : value + static_cast<std::int64_t>(q() % 1000);
           return integer(value);
         });
       }},
      {"multiples of 4096",
       [](Random& r) {
         return NextValue([v = std::int64_t{1} << 30, &r](Random& q) mutable {
           static_cast<void>(r);
           v += 4096 * (static_cast<std::int64_t>(q() % 41) - 20);
           return integer(v);
         });
       }},
      {"0 or 1, rarely changing",
       [](Random&) {
         return NextValue([v = 0](Random& q) mutable {
           if (q() % 300 == 0) v = 1 - v;
           return integer(v);
         });
       }},
      {"period of 60",
       [](Random& r) {
         std::vector<std::int64_t> values;
         for (int i = 0; i < 60; ++i) values.push_back(static_cast<std::int64_t>(r() % 100'000));
         return NextValue([values, i = 0](Random&) mutable {
           return integer(values[static_cast<std::size_t>(i++) % 60]);
         });
       }},
      {"spikes",
       [](Random&) {
         return NextValue([](Random& q) {
           return integer(
               static_cast<std::int64_t>(q() % 50 == 0 ? q() % 1'000'000'000 : q() % 20));
         });
       }},
      {"small counts",
       [](Random&) {
         return NextValue(
             [](Random& q) { return integer(std::poisson_distribution<std::int64_t>(2)(q)); });
       }},
      {"latencies, 3 decimals",
       [](Random&) {
         return NextValue(
             [](Random& q) { return number(std::round(std::exp(normal(q) + 2) * 1000) / 1000); });
       }},
      {"singles",
       [](Random& r) {
         return NextValue([v = static_cast<float>(uniform(r, 100))](Random& q) mutable {
           v += static_cast<float>(normal(q));
           return number(static_cast<double>(v));
         });
       }},
      {"whole doubles",
       [](Random& r) {
         return NextValue([next = walk(r, 0)](Random& q) mutable {
           return number(static_cast<double>(as_integer(next(q).bits)));
         });
       }},
      {"shortest decimals, whole ones integers",
       [](Random& r) {
         return NextValue([next = walk(r, 1)](Random& q) mutable {
           const ShapeValue value = next(q);
           const double d = as_double(value.bits);
           return d == std::floor(d) ? integer(static_cast<std::int64_t>(d)) : value;
         });
       }},
      {"integers and doubles by chance",
       [](Random&) {
         return NextValue([](Random& q) {
           return q() % 2 == 0 ? integer(static_cast<std::int64_t>(q() % 100))
                               : number(static_cast<double>(q() % 10'000) / 100);
         });
       }},
      {"walk with NaN and -0",
       [](Random& r) {
         return NextValue([next = walk(r, 2)](Random& q) mutable {
           switch (q() % 40) {
             case 0:
               return ShapeValue{0x7FF8'0000'0000'0000u | q() % 1000, true};
             case 1:
               return number(-0.0);
             case 2:
               return number(-std::numeric_limits<double>::infinity());
             default:
               return next(q);
           }
         });
       }},
      {"any bits",
       [](Random&) { return NextValue([](Random& q) { return ShapeValue{q(), q() % 2 == 0}; }); }},
      {"any integer",
       [](Random&) { return NextValue([](Random& q) { return ShapeValue{q(), false}; }); }},
      {"extreme integers",
       [](Random&) {
         return NextValue([](Random& q) {
           constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
           constexpr auto kMost = std::numeric_limits<std::int64_t>::max();
           const std::int64_t near = static_cast<std::int64_t>(q() % 3);
           return integer(q() % 2 == 0 ? kLeast + near : kMost - near);
         });
       }},
      {"denormals and extremes",
       [](Random&) {
         return NextValue([](Random& q) {
           const double values[] = {5e-324,
                                    -5e-324,
                                    1.7976931348623157e308,
                                    2.2250738585072014e-308,
                                    0.1,
                                    0.30000000000000004,
                                    1e15,
                                    123456789012345.0};
           return number(values[q() % 8]);
         });
       }},
  };
}

inline std::vector<Shape> all_shapes() {
  std::vector<Shape> shapes = metric_shapes();
  for (Shape& shape : other_shapes()) shapes.push_back(std::move(shape));
  return shapes;
}

// How the times go on: a constant step, or less regular.
enum class Beat : std::uint8_t { kSteady, kGaps, kJitter, kSecondsJitter, kAny };
inline constexpr Beat kBeats[] = {Beat::kSteady, Beat::kGaps, Beat::kJitter, Beat::kSecondsJitter,
                                  Beat::kAny};

inline TimestampMs step_of(Beat beat, Random& random) {
  switch (beat) {
    case Beat::kSteady:
      return 10'000;
    case Beat::kGaps:
      return random() % 500 == 0 ? 60'000 : 10'000;
    case Beat::kJitter:
      return 9'980 + static_cast<TimestampMs>(random() % 41);
    case Beat::kSecondsJitter:
      return random() % 10 == 0 ? 9'000 + 1'000 * static_cast<TimestampMs>(random() % 3) : 10'000;
    case Beat::kAny:
      return 1 + static_cast<TimestampMs>(random() >> (24 + random() % 40));
  }
  return 1;
}

inline Points make_points(const Shape& shape, Beat beat, std::size_t count, Random& random) {
  Points points;
  NextValue next = shape.start(random);
  TimestampMs time = 1'451'606'400'000;
  for (std::size_t i = 0; i < count; ++i) {
    const ShapeValue value = next(random);
    points.push_back(time, value.bits, value.is_float);
    time += step_of(beat, random);
  }
  return points;
}

}  // namespace halite::storage::chunk
