// Every key that OpenTSDB 2.4 knows, its default, and the setting it becomes here.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace halite::app {

// How a value is written down and read.
enum class OpentsdbValue : std::uint8_t {
  kText,     // as it is
  kFlag,     // true: 1, true or yes in any case; all else is false
  kCount,    // a whole number
  kSeconds,  // a whole number; ours is a duration
  kMilliseconds,
  kExactTrue,  // a flag that only the text "true" sets
};

struct OpentsdbKey {
  std::string_view name;
  std::string_view standard;  // default; shown by /api/config where `shown`
  bool shown = true;          // whether OpenTSDB has the default in its table
  // Our setting, taken from the default too unless `only_when_given`. Empty: the key is understood
  // otherwise (opentsdb_conf.cc) or, where `meaningless` says why, not at all.
  std::string_view setting;
  OpentsdbValue value = OpentsdbValue::kText;
  bool only_when_given = false;
  std::string_view meaningless = {};  // why it changes nothing here; empty: it does
};

[[nodiscard]] std::span<const OpentsdbKey> opentsdb_keys();

}  // namespace halite::app
