// Every key of OpenTSDB 2.4, its default, and Halite's setting for it.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace halite::app {

// How a value is written and parsed.
enum class OpentsdbValue : std::uint8_t {
  kText,     // unchanged
  kFlag,     // true: 1, true or yes in any case; anything else is false
  kCount,    // a whole number
  kSeconds,  // a whole number; ours is a duration
  kMilliseconds,
  kExactTrue,  // a flag that only the text "true" sets
};

struct OpentsdbKey {
  std::string_view name;
  std::string_view standard;  // the default, which /api/config shows if `shown`
  bool shown = true;          // whether OpenTSDB lists the default
  // Halite's setting, which also gets the default unless `only_when_given`. Empty: opentsdb_conf.cc
  // handles the key, or it has no effect, for the reason in `meaningless`.
  std::string_view setting;
  OpentsdbValue value = OpentsdbValue::kText;
  bool only_when_given = false;
  std::string_view meaningless = {};  // why it has no effect here; empty if it has one
};

[[nodiscard]] std::span<const OpentsdbKey> opentsdb_keys();

}  // namespace halite::app
