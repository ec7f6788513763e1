#include "app/settings/opentsdb_conf.h"

#include <algorithm>

#include <fmt/format.h>

#include "app/settings/opentsdb_keys.h"
#include "common/bytes/ascii.h"
#include "common/config/near_name.h"

namespace halite::app {
namespace {

struct Given {
  std::string value;
  std::size_t line = 0;
};
using Values = std::map<std::string, Given>;

std::string_view trimmed(std::string_view text) { return trim(text, kCBlanks); }

bool is_true(std::string_view text) {
  const std::string upper = to_upper(trimmed(text));
  return upper == "TRUE" || upper == "1" || upper == "YES";
}

// A value in the notation of Halite's settings.
std::string our_text(OpentsdbValue kind, std::string_view value) {
  switch (kind) {
    case OpentsdbValue::kText:
      return std::string(value);
    case OpentsdbValue::kFlag:
      return is_true(value) ? "true" : "false";
    case OpentsdbValue::kCount:
      return std::string(trimmed(value));
    case OpentsdbValue::kSeconds:
      return fmt::format("{}s", trimmed(value));
    case OpentsdbValue::kMilliseconds:
      return fmt::format("{}ms", trimmed(value));
    case OpentsdbValue::kExactTrue:
      return trimmed(value) == "true" ? "true" : "false";
  }
  return {};
}

class Applier {
 public:
  Applier(const Values& values, const std::string& path, Config& config)
      : values_(values), path_(path), config_(config) {}

  Result<void> apply() {
    for (const OpentsdbKey& key : opentsdb_keys()) {
      if (!key.setting.empty()) TRY_VOID(becomes(key));
    }
    TRY_VOID(set("storage.layout", "opentsdb", "tsd.storage"));
    // Answers match OpenTSDB's only without self-metrics.
    TRY_VOID(set("self_metrics.enabled", "false", "tsd.stats"));
    TRY_VOID(set("web.get_may_write", "true", "tsd.http"));
    TRY_VOID(listen());
    TRY_VOID(timeouts());
    TRY_VOID(body_limit());
    TRY_VOID(last_points());
    TRY_VOID(query_timeout());
    TRY_VOID(authentication());
    TRY_VOID(times_of_points());
    TRY_VOID(hbase_authentication());
    return cors();
  }

 private:
  [[nodiscard]] const Given* find(std::string_view key) const {
    const auto found = values_.find(std::string(key));
    return found == values_.end() ? nullptr : &found->second;
  }

  [[nodiscard]] std::string value(std::string_view key, std::string_view standard) const {
    const Given* given = find(key);
    return given == nullptr ? std::string(standard) : given->value;
  }

  // `key` is the key whose value, or absence, decides.
  Result<void> set(std::string_view setting, std::string_view text, std::string_view key) {
    const Given* given = find(key);
    const std::string origin = given == nullptr
                                   ? fmt::format("OpenTSDB's default of {}", key)
                                   : fmt::format("file {}:{}: {}", path_, given->line, key);
    return config_.apply_origin(origin, setting, text);
  }

  Result<void> becomes(const OpentsdbKey& key) {
    const Given* given = find(key.name);
    if (given == nullptr && key.only_when_given) return {};
    const std::string_view text = given == nullptr ? key.standard : std::string_view(given->value);
    if (trimmed(text).empty() && key.value != OpentsdbValue::kText) return {};
    return set(key.setting, our_text(key.value, text), key.name);
  }

  Result<void> listen() {
    std::string address(trimmed(value("tsd.network.bind", "0.0.0.0")));
    if (address.find(':') != std::string::npos && !address.starts_with('[')) {
      address = fmt::format("[{}]", address);
    }
    const std::string port = value("tsd.network.port", "4242");
    return set("listen", fmt::format("{}:{}", address, trimmed(port)), "tsd.network.port");
  }

  Result<void> timeouts() {
    constexpr std::string_view kKey = "tsd.core.socket.timeout";
    const std::string seconds = our_text(OpentsdbValue::kSeconds, value(kKey, "0"));
    TRY_VOID(set("web.idle_timeout_ms", seconds, kKey));
    return set("web.telnet_idle_timeout_ms", seconds, kKey);
  }

  // OpenTSDB's 4096 bytes apply only if bodies in chunks are enabled. Halite's limit is larger
  // until the file sets one.
  Result<void> body_limit() {
    constexpr std::string_view kKey = "tsd.http.request.max_chunk";
    if (find(kKey) == nullptr || !is_true(value("tsd.http.request.enable_chunked", "false"))) {
      return {};
    }
    return set("web.body_bytes_max", trimmed(value(kKey, "")), kKey);
  }

  // OpenTSDB finds a last point before this hour through its counters of written points.
  Result<void> last_points() {
    constexpr std::string_view kTracking = "tsd.core.meta.enable_tsuid_tracking";
    constexpr std::string_view kCounting = "tsd.core.meta.enable_tsuid_incrementing";
    const bool known = is_true(value(kTracking, "false")) || is_true(value(kCounting, "false"));
    return set("web.last_whole_history", known ? "true" : "false", kTracking);
  }

  // OpenTSDB 2.4.1 declares the key and never reads it, but users who set it want it. There 0 is
  // "none"; here it keeps Halite's default.
  Result<void> query_timeout() {
    constexpr std::string_view kKey = "tsd.query.timeout";
    const std::string_view text = find(kKey) == nullptr ? "0" : trimmed(find(kKey)->value);
    if (text == "0" || text.empty()) return {};
    return set("query.timeout_ms", our_text(OpentsdbValue::kMilliseconds, text), kKey);
  }

  // A server that required authentication must not become open to all.
  Result<void> authentication() {
    constexpr std::string_view kKey = "tsd.core.authentication.enable";
    const Given* given = find(kKey);
    if (given == nullptr || !is_true(given->value)) return {};
    return fail(Errc::kInvalidArgument,
                fmt::format("{}:{}: {}: OpenTSDB's authentication plugins cannot be loaded; remove "
                            "the key and use auth.file",
                            path_, given->line, kKey));
  }

  // OpenTSDB searches for such cells by their times, and would miss Halite's.
  Result<void> times_of_points() {
    constexpr std::string_view kKey = "tsd.storage.use_otsdb_timestamp";
    const Given* given = find(kKey);
    if (given == nullptr || !is_true(given->value)) return {};
    return fail(Errc::kInvalidArgument,
                fmt::format("{}:{}: {}: Halite stamps cells with the time of the write, so an "
                            "OpenTSDB with this key would not find all of them. Remove the key "
                            "here and turn it off in OpenTSDB; existing data stays readable",
                            path_, given->line, kKey));
  }

  // asynchbase authenticates only if the first key is true.
  Result<void> hbase_authentication() {
    constexpr std::string_view kEnabled = "hbase.security.auth.enable";
    constexpr std::string_view kKind = "hbase.security.authentication";
    if (!is_true(value(kEnabled, "false"))) return {};
    return set("hbase.authentication", to_lower(trimmed(value(kKind, "simple"))),
               find(kKind) == nullptr ? kEnabled : kKind);
  }

  Result<void> cors() {
    constexpr std::string_view kKey = "tsd.http.request.cors_domains";
    const Given* given = find(kKey);
    if (given == nullptr || trimmed(given->value) == "*" ||
        given->value.find('*') == std::string::npos) {
      return {};
    }
    return fail(Errc::kInvalidArgument,
                fmt::format("{}:{}: {} must be * or a list of domains, not \"{}\"", path_,
                            given->line, kKey, given->value));
  }

  const Values& values_;
  const std::string& path_;
  Config& config_;
};

}  // namespace

Result<OpentsdbConf> apply_opentsdb_properties(const std::vector<JavaProperty>& properties,
                                               const std::string& path, Config& config) {
  Values values;
  for (const JavaProperty& property : properties) {
    values[property.key] = {.value = property.value, .line = property.line};
  }
  TRY_VOID(Applier(values, path, config).apply());

  OpentsdbConf conf{.given = true, .properties = {}, .meaningless = {}, .unknown = {}};
  std::vector<std::string_view> known;
  for (const OpentsdbKey& key : opentsdb_keys()) {
    known.push_back(key.name);
    if (key.shown) conf.properties.emplace(key.name, key.standard);
    if (!key.meaningless.empty() && values.contains(std::string(key.name))) {
      conf.meaningless.push_back(fmt::format("{} ({})", key.name, key.meaningless));
    }
  }
  for (const auto& [key, given] : values) conf.properties[key] = given.value;
  for (const JavaProperty& property : properties) {
    if (std::ranges::find(known, property.key) != known.end()) continue;
    const std::string_view near = nearest_name(property.key, known);
    conf.unknown.push_back(
        fmt::format("{} in line {}{}", property.key, property.line,
                    near.empty() ? "" : fmt::format(" (did you mean {}?)", near)));
  }
  return conf;
}

Result<OpentsdbConf> apply_opentsdb_conf(const std::string& path, Config& config) {
  TRY(const std::vector<JavaProperty> properties, read_java_properties(path));
  return apply_opentsdb_properties(properties, path, config);
}

}  // namespace halite::app
