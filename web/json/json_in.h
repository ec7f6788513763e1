// Small JSON bodies of requests. Points and queries have their own parsers.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"

namespace halite::web {

// {"type":"metrics","max":5} with every value as text. Numbers and booleans keep their spelling;
// null, arrays and objects are omitted. kInvalidArgument with OpenTSDB's message: no body, not
// JSON, not an object.
[[nodiscard]] Result<std::map<std::string, std::string>> parse_flat_object(std::string_view body);

// {"metric":"m","tags":[{"key":"k","value":"v"}],"limit":25}
struct LookupBody {
  std::map<std::string, std::string> fields;              // as parse_flat_object()
  std::vector<std::pair<std::string, std::string>> tags;  // key, value
  bool has_tags = false;
};
[[nodiscard]] Result<LookupBody> parse_lookup_body(std::string_view body);

// {"queries":[{"metric":"m","tags":{"k":"v"}},{"tsuids":["01"]}],"resolveNames":true,"backScan":24}
struct LastBody {
  struct Sub {
    std::string metric;
    std::map<std::string, std::string> tags;
    std::vector<std::string> tsuids;  // if present, the metric is ignored
  };
  std::vector<Sub> subs;
  bool resolve = false;
  std::int64_t back_scan = 0;  // hours
};
[[nodiscard]] Result<LastBody> parse_last_body(std::string_view body);

}  // namespace halite::web
