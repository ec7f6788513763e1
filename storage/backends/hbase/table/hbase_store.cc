#include "storage/backends/hbase/table/hbase_store.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/this_coro.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/config/config_value.h"
#include "common/log.h"
#include "storage/backends/hbase/table/hbase_table.h"
#include "storage/backends/shared/wide_column_rules.h"

namespace halite::storage {
namespace {

namespace asio = boost::asio;

constexpr auto kEnabledPause = std::chrono::milliseconds(100);
// The order of families, which HBase does not keep. Halite creates its tables with this attribute.
const std::string kFamiliesKey = "halite.families";

std::string ttl_text(std::int64_t ttl_s) {
  return ttl_s == kForEverS ? "for ever" : fmt::format("for {} s", ttl_s);
}

std::string family_names(const TableSpec& spec) {
  std::vector<std::string> names;
  for (const FamilySpec& family : spec.families) names.push_back(family.name);
  return fmt::format("{}", fmt::join(names, ","));
}

hbase::TableDescriptor description_of(const std::string& name, const TableSpec& spec,
                                      const HBaseTableOptions& options) {
  hbase::TableDescriptor table;
  table.name = name;
  table.attributes[kFamiliesKey] = family_names(spec);
  if (spec.fixed_regions) {
    table.attributes["SPLIT_ENABLED"] = "false";
    table.attributes["MERGE_ENABLED"] = "false";
    table.attributes["NORMALIZATION_ENABLED"] = "false";
  }
  for (const FamilySpec& family : spec.families) {
    hbase::FamilyDescriptor& made = table.families.emplace_back();
    made.name = family.name;
    made.attributes = {
        {"VERSIONS", "1"},
        {"BLOOMFILTER", options.bloom_filter},
        {"BLOCKCACHE", options.block_cache ? "true" : "false"},
        {"COMPRESSION", options.compression},
        {"DATA_BLOCK_ENCODING", options.encoding},
        {"TTL", std::to_string(options.expire ? ttl_s_for(family.ttl_ms, options) : kForEverS)}};
  }
  return table;
}

// In Halite's order if Halite created the table, else in the order of `spec` if the sets are equal.
std::vector<FamilySpec> families_of(const hbase::TableDescriptor& table, const TableSpec& spec) {
  std::vector<FamilySpec> families;
  const auto ours = table.attributes.find(kFamiliesKey);
  if (ours != table.attributes.end()) {
    std::string_view rest = ours->second;
    while (!rest.empty()) {
      const std::size_t comma = std::min(rest.find(','), rest.size());
      families.push_back({.name = std::string(rest.substr(0, comma))});
      rest.remove_prefix(std::min(comma + 1, rest.size()));
    }
    return families;
  }
  for (const hbase::FamilyDescriptor& family : table.families) {
    families.push_back({.name = family.name});
  }
  const bool same = std::ranges::is_permutation(families, spec.families, {}, &FamilySpec::name,
                                                &FamilySpec::name);
  return same ? spec.families : families;
}

}  // namespace

std::int64_t ttl_s_for(std::int64_t ttl_ms, const HBaseTableOptions& options) {
  if (ttl_ms == 0) return kForEverS;
  const std::int64_t ttl_s = (ttl_ms + options.expire_slack_ms + 999) / 1000;
  return std::min(ttl_s, kForEverS);
}

Result<std::int64_t> ttl_s_of(const hbase::FamilyDescriptor& family) {
  const auto found = family.attributes.find("TTL");
  if (found == family.attributes.end() || found->second == "FOREVER") return kForEverS;
  Result<std::int64_t> ttl_s = parse_count(found->second);
  if (ttl_s && *ttl_s > 0) return ttl_s;
  return fail(
      Errc::kUnsupported,
      fmt::format("HBase reports TTL = \"{}\" for the family {}, expected seconds or FOREVER",
                  found->second, family.name));
}

std::string HBaseStoreOptions::whole_name(std::string_view table) const {
  const std::size_t at = table.find(':') + 1;  // 0: no namespace
  std::string whole(table.substr(0, at));
  whole += table_prefix;
  whole += table.substr(at);
  constexpr std::string_view kDefault = "default:";
  return whole.starts_with(kDefault) ? whole.substr(kDefault.size()) : whole;
}

HBaseStore::HBaseStore(HBaseStoreOptions options, const Clock& clock,
                       prometheus::Registry& registry)
    : options_(std::move(options)),
      clock_(clock),
      threads_(options_.threads, "hbase"),
      client_(options_.client, threads_.executors(), registry) {}

HBaseStore::~HBaseStore() = default;

Task<std::shared_ptr<Table>> HBaseStore::open_table(TableSpec spec) {
  CO_TRY_VOID(check_table_spec(spec));  // the prefix does not make an invalid name valid
  spec.name = whole_name(spec.name);
  CO_TRY_VOID(check_table_spec(spec));
  const std::string name = spec.name;
  CO_TRY(hbase::TableDescriptor found, co_await find_or_create(name, spec));
  const std::vector<FamilySpec> families = families_of(found, spec);
  CO_TRY_VOID(check_same_families(families, spec));
  CO_TRY_VOID(co_await apply_ttl(std::move(found), spec));
  co_return table_of(name, spec);
}

Task<hbase::TableDescriptor> HBaseStore::find_or_create(std::string name, TableSpec spec) {
  CO_TRY(std::optional<hbase::TableDescriptor> found, co_await client_.describe_table(name));
  if (!found) {
    if (!options_.tables.create) {
      co_return fail(Errc::kNotFound, fmt::format("HBase has no table {}", name));
    }
    hbase::TableDescriptor wanted = description_of(name, spec, options_.tables);
    const Result<void> created = co_await client_.create_table(wanted, spec.split_keys);
    if (created) {
      log::info("created the HBase table {}", name);
      co_return wanted;
    }
    if (created.error().code == Errc::kNotFound) {
      co_return fail(Errc::kNotFound,
                     fmt::format("cannot create the HBase table {}: {}; its namespace must exist: "
                                 "run create_namespace '{}' in the HBase shell",
                                 name, created.error().message, name.substr(0, name.find(':'))));
    }
    if (created.error().code != Errc::kConflict) co_return std::unexpected(created.error());
    CO_TRY(found, co_await client_.describe_table(name));  // another process created it first
    if (!found) {
      co_return fail(Errc::kUnavailable,
                     fmt::format("HBase table {} was created and removed at once", name));
    }
  }
  CO_TRY_VOID(co_await await_enabled(name));
  co_return *std::move(found);
}

// A new table exists before its regions do.
Task<void> HBaseStore::await_enabled(std::string name) {
  asio::steady_timer timer(co_await asio::this_coro::executor);
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::milliseconds(options_.enabled_ms_max);
  for (;;) {
    CO_TRY(const std::optional<hbase::TableState> state, co_await client_.table_state(name));
    if (state == hbase::TableState::kEnabled) co_return Result<void>();
    if (state == hbase::TableState::kDisabled) {
      co_return fail(Errc::kUnavailable, fmt::format("HBase table {} is disabled", name));
    }
    if (std::chrono::steady_clock::now() > end) {
      co_return fail(Errc::kUnavailable, fmt::format("HBase table {} is not enabled", name));
    }
    timer.expires_after(kEnabledPause);
    co_await timer.async_wait(asio::use_awaitable);
  }
}

// A shorter TTL deletes data for all users of the table. It is set only on request; otherwise the
// daemon that starts last would decide for all. Tables of other programs stay unchanged.
Task<void> HBaseStore::apply_ttl(hbase::TableDescriptor found, TableSpec spec) {
  const HBaseTableOptions& options = options_.tables;
  const bool ours = found.attributes.contains(kFamiliesKey) && options.expire;
  bool changed = false;
  for (const FamilySpec& family : spec.families) {
    const auto at = std::ranges::find(found.families, family.name, &hbase::FamilyDescriptor::name);
    if (at == found.families.end()) continue;  // checked earlier
    CO_TRY(const std::int64_t has_s, ttl_s_of(*at));
    const std::int64_t wanted_s = ttl_s_for(family.ttl_ms, options);
    if (has_s == wanted_s) continue;
    if (ours && (has_s < wanted_s || options.lower_ttl)) {
      log::info("the TTL of the HBase table {}:{} changed: cells were kept {}, and are now kept {}",
                found.name, family.name, ttl_text(has_s), ttl_text(wanted_s));
      at->attributes["TTL"] = std::to_string(wanted_s);
      changed = true;
    } else if (has_s < wanted_s) {
      warn_once(
          fmt::format("HBase keeps cells of {}:{} {}, which is shorter than the configured TTL, "
                      "{}: older data is gone",
                      found.name, family.name, ttl_text(has_s), ttl_text(wanted_s)));
    } else if (ours) {
      warn_once(
          fmt::format("HBase keeps cells of {}:{} {}, which is longer than the configured TTL, {}: "
                      "Halite hides older data, other clients still see it",
                      found.name, family.name, ttl_text(has_s), ttl_text(wanted_s)));
    }
  }
  if (!changed) co_return Result<void>();
  co_return co_await client_.modify_table(std::move(found));
}

// A start opens one table several times.
void HBaseStore::warn_once(std::string text) {
  {
    const std::lock_guard lock(mutex_);
    if (!warnings_.insert(text).second) return;
  }
  log::warn("{}", text);
}

std::shared_ptr<HBaseTable> HBaseStore::table_of(const std::string& name, const TableSpec& spec) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<HBaseTable>& table = tables_[name];
  if (!table) {
    const HBaseTable::Dependencies dependencies{client_, clock_, name, options_.range_filter_max,
                                                options_.clock_ahead_ms_max};
    table = std::make_shared<HBaseTable>(dependencies, spec.families);
  }
  table->set_ttls(spec);
  return table;
}

Result<void> HBaseStore::health() const {
  Result<void> health = client_.health();
  if (!health && !looking_.exchange(true)) {
    asio::co_spawn(threads_.executors().front(), look_again(*this), asio::detached);
  }
  return health;
}

// Every table has its state in hbase:meta; any answer is fine.
asio::awaitable<void> HBaseStore::look_again(const HBaseStore& store) {
  std::string name;
  {
    const std::lock_guard lock(store.mutex_);
    if (!store.tables_.empty()) name = store.tables_.begin()->first;
  }
  const auto seen = co_await store.client_.table_state(std::move(name));
  if (!seen) log::debug("HBase is still unavailable: {}", seen.error().message);
  store.looking_ = false;
}

Task<void> HBaseStore::close() {
  const Result<void> closed = co_await client_.close();
  threads_.join();
  co_return closed;
}

}  // namespace halite::storage
