#include "app/settings/options.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/config/config_value.h"
#include "ingest/formats/graphite_templates.h"
#include "query/parse/aggregator.h"
#include "query/parse/time.h"
#include "storage/cells/layouts/cyclic_options.h"
#include "storage/files/copy_on_write_files.h"
#include "storage/files/posix_files.h"
#include "storage/tsdb/core/options.h"
#include "web/name_list.h"

namespace halite::app {
namespace {

Result<web::ListenAddress> parse_listen_address(std::string_view setting, std::string_view text) {
  web::ListenAddress parsed;
  const std::size_t colon = text.rfind(':');
  std::string_view address = text.substr(0, colon);
  const std::string_view port = colon == std::string_view::npos ? "" : text.substr(colon + 1);
  const bool bracketed = address.starts_with('[') && address.ends_with(']');
  if (bracketed) address = address.substr(1, address.size() - 2);
  const char* const end = port.data() + port.size();
  const auto [stop, error] = std::from_chars(port.data(), end, parsed.port);
  if (colon == 0 || address == "*") address = "0.0.0.0";
  if (address.empty() || port.empty() || error != std::errc() || stop != end ||
      (!bracketed && address.find(':') != std::string_view::npos)) {
    return fail(Errc::kInvalidArgument,
                fmt::format("{} must be ADDRESS:PORT such as 127.0.0.1:4242, [::1]:4242, "
                            "localhost:4242 or :4242 (all addresses), not \"{}\"",
                            setting, text));
  }
  parsed.address = address;
  return parsed;
}

Result<void> set_graphite(const Options& options, web::WebOptions& web) {
  if (!options.graphite_listen.empty()) {
    TRY(web.graphite, parse_listen_address("graphite.listen", options.graphite_listen));
  }
  if (!options.graphite_pickle_listen.empty()) {
    TRY(web.graphite_pickle,
        parse_listen_address("graphite.pickle_listen", options.graphite_pickle_listen));
  }
  auto templates = ingest::GraphiteTemplates::parse(options.graphite_templates);
  if (!templates) {
    return fail(Errc::kInvalidArgument, fmt::format("graphite.templates: {}", templates.error()));
  }
  web.graphite_format.graphite_templates =
      std::make_shared<const ingest::GraphiteTemplates>(*std::move(templates));
  return {};
}

// Whether a listener at one of the addresses excludes one at the other. Does not resolve names.
bool listeners_conflict(const web::ListenAddress& one, const web::ListenAddress& other) {
  if (one.port != other.port || one.port == 0) return false;
  // [::] takes IPv4, too.
  const auto takes = [](const web::ListenAddress& all, const web::ListenAddress& each) {
    return all.address == "::" || all.address == each.address ||
           (all.address == "0.0.0.0" && !each.address.contains(':'));
  };
  return takes(one, other) || takes(other, one);
}

Result<void> check_listeners(const Options& options) {
  struct Listener {
    std::string_view setting;
    std::string_view text;
    web::ListenAddress address;
  };
  std::vector<Listener> listeners;
  const auto add = [&listeners](const Listener& added) -> Result<void> {
    for (const Listener& each : listeners) {
      if (!listeners_conflict(each.address, added.address)) continue;
      return fail(Errc::kInvalidArgument,
                  fmt::format("{} = \"{}\" and {} = \"{}\" are one port; choose another port for "
                              "one of them",
                              each.setting, each.text, added.setting, added.text));
    }
    listeners.push_back(added);
    return {};
  };
  const web::WebOptions& web = options.web;
  web::ListenAddress http;
  http.address = web.address;
  http.port = web.port;
  TRY_VOID(add({"listen", options.listen, http}));
  if (web.graphite) TRY_VOID(add({"graphite.listen", options.graphite_listen, *web.graphite}));
  if (web.graphite_pickle) {
    TRY_VOID(add({"graphite.pickle_listen", options.graphite_pickle_listen, *web.graphite_pickle}));
  }
  return {};
}

std::unexpected<Error> bad_rule(std::string_view part, std::string_view why) {
  return fail(Errc::kInvalidArgument,
              fmt::format("storage.retention must be a comma-separated list of PREFIX=DURATION "
                          "such as tmp.=7d; \"{}\" {}",
                          part, why));
}

// Parses "tmp.=7d, audit.=10y": prefixes and durations, separated by commas; 0 = no expiry. An
// empty text gives no rules. kInvalidArgument names the setting and the invalid part.
Result<std::vector<storage::RetentionRule>> parse_retention_rules(std::string_view text) {
  std::vector<storage::RetentionRule> rules;
  if (trim(text).empty()) return rules;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t comma = std::min(text.find(',', begin), text.size());
    const std::string_view part = trim(text.substr(begin, comma - begin));
    begin = comma + 1;
    const std::size_t equals = part.rfind('=');
    if (equals == std::string_view::npos) return bad_rule(part, "has no =");
    const std::string_view prefix = trim(part.substr(0, equals));
    if (prefix.empty()) return bad_rule(part, "has no prefix; use storage.ttl_ms for all metrics");
    const auto ttl_ms = parse_duration_ms(trim(part.substr(equals + 1)));
    if (!ttl_ms) return bad_rule(part, ttl_ms.error().message);
    if (*ttl_ms < 0) return bad_rule(part, "is negative");
    if (std::ranges::find(rules, prefix, &storage::RetentionRule::prefix) != rules.end()) {
      return bad_rule(part, "repeats a prefix");
    }
    rules.push_back({.prefix = std::string(prefix), .ttl_ms = *ttl_ms});
  }
  return rules;
}

}  // namespace

// Turns off everything that writes on its own. What a start must write stays in memory.
Result<void> make_read_only(Options& options) {
  if (!has_data_dir(options.store)) {
    return fail(Errc::kInvalidArgument,
                fmt::format("read_only requires a store with a data directory, which {} does not "
                            "have; use web.mode = \"ro\" to answer queries only",
                            store_name(options.store)));
  }
  if (options.web_mode == "wo") {
    return fail(Errc::kInvalidArgument, "read_only and web.mode = \"wo\" cannot be combined");
  }
  options.read_only.wanted = true;
  options.web.mode = web::Mode::kReadOnly;
  options.web.read_only = true;
  options.self_metrics.enabled = false;
  options.care.scrub.interval_ms = 0;
  options.engine.auto_maintenance = false;
  options.engine.chunks.auto_compaction = false;
  options.rocks.auto_compaction = false;
  const auto beneath =
      options.environment.files != nullptr ? options.environment.files : storage::posix_files();
  options.environment.files = storage::copy_on_write_files(beneath, options.read_only.bytes_max);
  return {};
}

namespace {

std::unexpected<Error> error_at(const std::string& place, Error error) {
  if (!place.empty()) error.message = fmt::format("{}: {}", place, error.message);
  return std::unexpected(std::move(error));
}

// On HBase, views are rollups (docs/decisions/0080).
Result<void> check_shared_views(const Options& options) {
  if (!options.rollups.enabled) {
    return fail(Errc::kInvalidArgument,
                "views with --store hbase are stored as rollups: set rollups.enabled = true, and "
                "rollups.config to a configuration with the intervals of all views");
  }
  if (options.row_layout != RowLayoutKind::kOpentsdb) {
    return fail(Errc::kInvalidArgument,
                "views with --store hbase require storage.layout = opentsdb");
  }
  return {};
}

}  // namespace

std::string host_tag() {
  std::array<char, 256> name{};
  if (::gethostname(name.data(), name.size() - 1) != 0 || name[0] == '\0') return "localhost";
  std::string host = name.data();
  const auto illegal = [](unsigned char c) {
    return std::isalnum(c) == 0 && c != '-' && c != '_' && c != '.' && c != '/';
  };
  std::ranges::replace_if(host, illegal, '_');
  return host;
}

Result<void> resolve_options(Options& options) {
  TRY(const web::ListenAddress address, parse_listen_address("listen", options.listen));
  options.web.address = address.address;
  options.web.port = address.port;
  TRY_VOID(set_graphite(options, options.web));
  options.web.otlp_resource_attributes = web::names_in(options.otlp_resource_attributes);
  if (options.web_mode == "ro") options.web.mode = web::Mode::kReadOnly;
  if (options.web_mode == "wo") options.web.mode = web::Mode::kWriteOnly;
  if (!options.web.timezone.empty() && !query::find_time_zone(options.web.timezone)) {
    return fail(
        Errc::kInvalidArgument,
        fmt::format("web.timezone = {}: the system has no such time zone", options.web.timezone));
  }
  TRY(options.web.traces.ratio, parse_sample_ratio(options.tracing.sample_ratio));
  const auto counters = storage::CounterRules::parse(options.counters, options.layout.ttl_ms);
  if (!counters) return error_at(options.counters_place, counters.error());
  const auto views = storage::parse_view_rules(options.views);
  if (!views) return error_at(options.views_place, views.error());
  TRY(options.engine.retention, parse_retention_rules(options.retention));
  if (!options.engine.retention.empty() && options.store != StoreKind::kEngine) {
    return fail(Errc::kInvalidArgument, "storage.retention requires --store engine");
  }
  const bool hbase = options.store == StoreKind::kHBase;
  if (options.row_layout == RowLayoutKind::kAuto) {
    options.row_layout = hbase ? RowLayoutKind::kOpentsdb : RowLayoutKind::kCyclic;
  }
  if (hbase && !views->empty()) TRY_VOID(check_shared_views(options));
  if (hbase) TRY_VOID(resolve_hbase_options(options));
  // OpenTSDB's rows may have more salts than Halite's, and an opentsdb.conf with more must start
  // with any store.
  if (options.opentsdb.given &&
      (options.store == StoreKind::kEngine || options.row_layout != RowLayoutKind::kOpentsdb)) {
    std::uint32_t& buckets = options.layout.salt_buckets;
    buckets = std::min(buckets, storage::kCyclicSaltsMax);
  }
  using storage::Compression;
  if (options.rocks_compression == "none") options.rocks.compression = Compression::kNone;
  if (options.rocks_compression == "fast") options.rocks.compression = Compression::kFast;
  const std::uint32_t processors = std::max(1u, std::thread::hardware_concurrency());
  if (options.threads.web == 0) options.threads.web = processors;
  if (options.threads.query == 0) options.threads.query = processors;
  if (options.threads.small_query == 0) options.threads.small_query = processors;
  if (options.self_metrics.host.empty()) options.self_metrics.host = host_tag();
  options.web.metric_width = options.layout.widths.metric;
  options.web.telnet_storage_errors = options.ingest.telnet_storage_errors;
  options.web.opentsdb_words = options.ingest.opentsdb_words = options.opentsdb.given;
  options.web.host_name = options.self_metrics.host;
  // OpenTSDB has no access control, and opentsdb.conf requests its behaviour.
  web::AccessOptions& access = options.web.access;
  if (options.opentsdb.given && access.file.empty() && access.anonymous == "auto") {
    access.anonymous = "admin";
  }
  options.rollups.rules.aggregators = query::aggregator_names();
  if (options.read_only.wanted) TRY_VOID(make_read_only(options));
  if (options.web.mode == web::Mode::kReadOnly) {
    options.web.graphite.reset();
    options.web.graphite_pickle.reset();
  }
  return check_listeners(options);
}

}  // namespace halite::app
