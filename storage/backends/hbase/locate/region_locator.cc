#include "storage/backends/hbase/locate/region_locator.h"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace halite::storage::hbase {

namespace {

constexpr std::uint32_t kNeighbours = 10;  // rows of a lookup; the extra rows fill the cache

std::unexpected<Fault> wait(std::string message) {
  return std::unexpected<Fault>(Fault{
      .remedy = Remedy::kWait, .error = {Errc::kUnavailable, std::move(message), {}}, .moved = {}});
}

std::unexpected<Fault> without_meta(Fault fault) {
  fault.of_meta = true;
  return std::unexpected(std::move(fault));
}

bool overlap(const Region& a, const Region& b) {
  return (a.end.empty() || b.begin < a.end) && (b.end.empty() || a.begin < b.end);
}

}  // namespace

// Runs the lookup for all who wait. Signals them also if its coroutine is destroyed.
class RegionLocator::Leader {
 public:
  Leader(RegionLocator& locator, std::string table, std::shared_ptr<Lookup> lookup)
      : locator_(locator), table_(std::move(table)), lookup_(std::move(lookup)) {}
  Leader(const Leader&) = delete;
  ~Leader() {
    {
      const std::lock_guard lock(locator_.mutex_);
      locator_.lookups_.erase(table_);
    }
    lookup_->done.finish({});
  }

 private:
  RegionLocator& locator_;
  const std::string table_;
  const std::shared_ptr<Lookup> lookup_;
};

RegionLocator::RegionLocator(const ClientOptions& options, ConnectionPool& servers,
                             ConnectionRegistry& registry, Stats& stats)
    : options_(options), servers_(servers), registry_(registry), stats_(stats) {}

RemoteTask<RegionPtr> RegionLocator::locate(std::string table, Bytes row) {
  return find(std::move(table), std::move(row), Side::kHolds);
}

RemoteTask<RegionPtr> RegionLocator::locate_before(std::string table, Bytes end) {
  return find(std::move(table), std::move(end), Side::kBefore);
}

RegionPtr RegionLocator::known(const std::string& table, BytesView row) const {
  return find_known(table, row, Side::kHolds);
}

RegionPtr RegionLocator::find_known(const std::string& table, BytesView row, Side side) const {
  const std::lock_guard lock(mutex_);
  const auto regions = tables_.find(table);
  if (regions == tables_.end() || regions->second.empty()) return nullptr;
  Regions::const_iterator at;
  if (side == Side::kHolds) {
    at = regions->second.upper_bound(row);
  } else {
    at = row.empty() ? regions->second.end() : regions->second.lower_bound(row);
  }
  if (at == regions->second.begin()) return nullptr;
  const RegionPtr& region = std::prev(at)->second;
  if (region->server.port == 0) return nullptr;
  if (side == Side::kHolds) return region->holds(row) ? region : nullptr;
  const bool reaches = region->end.empty() || (!row.empty() && region->end >= row);
  return reaches ? region : nullptr;
}

RemoteTask<RegionPtr> RegionLocator::find(std::string table, Bytes row, Side side) {
  for (;;) {
    if (RegionPtr region = find_known(table, row, side)) co_return region;
    std::shared_ptr<Lookup> lookup;
    bool leads = false;
    {
      const std::lock_guard lock(mutex_);
      std::shared_ptr<Lookup>& under_way = lookups_[table];
      leads = under_way == nullptr;
      if (leads) under_way = std::make_shared<Lookup>();
      lookup = under_way;
    }
    if (!leads) {
      const Result<void> waited = co_await lookup->done.wait();
      static_cast<void>(waited);  // the lookup holds the error
      if (RegionPtr region = find_known(table, row, side)) co_return region;
      if (lookup->fault) co_return std::unexpected(*lookup->fault);
      continue;
    }
    const Leader leader(*this, table, lookup);
    RemoteTask<void> looking = look_up(table, row, side);
    Outcome<void> looked = co_await std::move(looking);
    if (looked) {
      if (RegionPtr region = find_known(table, row, side)) co_return region;
      RemoteTask<void> checking = check_enabled(table);
      looked = co_await std::move(checking);
    }
    if (looked) {
      looked = wait(fmt::format("no region server serves row {} of table \"{}\" now",
                                to_hex(BytesView(row).substr(0, 64)), table));
    }
    lookup->fault = looked.error();
    co_return std::unexpected(std::move(looked).error());
  }
}

// Reads all regions of an unknown table; otherwise the region of this row and some before it.
RemoteTask<void> RegionLocator::look_up(std::string table, Bytes row, Side side) {
  bool whole = false;
  {
    const std::lock_guard lock(mutex_);
    whole = !tables_.contains(table);
  }
  if (whole || (side == Side::kBefore && row.empty())) {
    RemoteTask<std::vector<RegionPtr>> reading = all(std::move(table));
    auto regions = co_await std::move(reading);
    if (!regions) co_return std::unexpected(std::move(regions).error());
    co_return Outcome<void>();
  }
  stats_.lookups.Increment();
  MetaScanRequest question;
  question.begin = meta_key(table, row);
  question.end = table + ",,";
  question.include_end = true;
  question.reverse = true;
  question.rows_max = kNeighbours;
  RemoteTask<MetaScanResult> asking = ask(std::move(question));
  auto answer = co_await std::move(asking);
  if (!answer) co_return std::unexpected(std::move(answer).error());
  if (answer->rows.empty() && !answer->more) {
    forget_table(table);
    co_return give_up(Errc::kNotFound, fmt::format("HBase has no table \"{}\"", table));
  }
  for (const MetaRow& found : answer->rows) {
    if (found.region == nullptr || found.region->table != table) continue;
    if (!found.closed) insert(found.region);
  }
  co_return Outcome<void>();
}

RemoteTask<std::vector<RegionPtr>> RegionLocator::all(std::string table) {
  std::vector<RegionPtr> regions;
  Bytes last;
  for (bool more = true; more;) {
    stats_.lookups.Increment();
    MetaScanRequest question;
    question.begin = last.empty() ? table + ",," : last;
    question.include_begin = last.empty();
    question.end = table + " ,,";
    question.rows_max = static_cast<std::uint32_t>(options_.lookup_rows_max);
    RemoteTask<MetaScanResult> asking = ask(std::move(question));
    auto answer = co_await std::move(asking);
    if (!answer) co_return std::unexpected(std::move(answer).error());
    for (MetaRow& row : answer->rows) {
      last = row.key;
      if (row.region == nullptr || row.region->table != table) continue;
      if (!row.closed) insert(row.region);
      regions.push_back(std::move(row.region));
    }
    more = answer->more;
    if (answer->rows.empty() && more) co_return wait("hbase:meta returned no rows in time");
    if (regions.size() > options_.regions_max) {
      co_return give_up(Errc::kTooLarge, fmt::format("table \"{}\" has more than {} regions", table,
                                                     options_.regions_max));
    }
  }
  if (regions.empty()) {
    forget_table(table);
    co_return give_up(Errc::kNotFound, fmt::format("HBase has no table \"{}\"", table));
  }
  {
    const std::lock_guard lock(mutex_);
    tables_.try_emplace(std::move(table));
  }
  co_return regions;
}

RemoteTask<MetaScanResult> RegionLocator::ask(MetaScanRequest question) {
  RemoteTask<Endpoint> finding = meta_server();
  auto server = co_await std::move(finding);
  if (!server) co_return without_meta(std::move(server).error());
  RemoteTask<MetaScanResult> asking =
      scan_meta(servers_, *server, std::move(question), options_.call_ms_max);
  Outcome<MetaScanResult> answer = co_await std::move(asking);
  if (!answer) {
    Fault fault = std::move(answer).error();
    forget_meta(*server, fault);
    // The fault concerns hbase:meta, not the caller's region; only a pause helps.
    if (fault.remedy != Remedy::kGiveUp) fault.remedy = Remedy::kWait;
    fault.error.message = "hbase:meta: " + fault.error.message;
    co_return without_meta(std::move(fault));
  }
  co_return answer;
}

RemoteTask<void> RegionLocator::check_enabled(std::string table) {
  RemoteTask<Endpoint> finding = meta_server();
  auto server = co_await std::move(finding);
  if (!server) co_return without_meta(std::move(server).error());
  RemoteTask<bool> asking = is_disabled(servers_, *server, table, options_.call_ms_max);
  auto disabled = co_await std::move(asking);
  if (!disabled) {
    Fault fault = std::move(disabled).error();
    forget_meta(*server, fault);
    if (fault.remedy != Remedy::kGiveUp) fault.remedy = Remedy::kWait;
    co_return without_meta(std::move(fault));
  }
  if (!*disabled) co_return Outcome<void>();
  co_return give_up(Errc::kConflict, fmt::format("HBase's table \"{}\" is disabled", table));
}

RemoteTask<Endpoint> RegionLocator::meta_server() {
  {
    const std::lock_guard lock(mutex_);
    if (meta_) co_return *meta_;
  }
  RemoteTask<Endpoint> asking = registry_.meta_server();
  auto server = co_await std::move(asking);
  if (!server) {
    servers_.note_error(server.error().error);
    co_return server;
  }
  const std::lock_guard lock(mutex_);
  meta_ = *server;
  co_return server;
}

RemoteTask<Endpoint> RegionLocator::master() {
  RemoteTask<Endpoint> asking = registry_.master();
  auto server = co_await std::move(asking);
  if (!server) servers_.note_error(server.error().error);
  co_return server;
}

void RegionLocator::forget_meta(const Endpoint& server, const Fault& fault) {
  if (fault.remedy == Remedy::kOverloaded || fault.remedy == Remedy::kAtOnce) return;
  const std::lock_guard lock(mutex_);
  if (meta_ == server) meta_.reset();
}

void RegionLocator::insert(const RegionPtr& region) {
  const std::lock_guard lock(mutex_);
  Regions& regions = tables_[region->table];
  auto at = regions.upper_bound(region->begin);
  if (at != regions.begin()) --at;
  while (at != regions.end() && (region->end.empty() || at->first < region->end)) {
    const Region& old = *at->second;
    if (!overlap(old, *region)) {
      ++at;
      continue;
    }
    const bool same = old.name == region->name;
    if (same ? old.sequence > region->sequence : old.id > region->id) return;
    at = regions.erase(at);
  }
  regions.insert_or_assign(region->begin, region);
}

void RegionLocator::learn(const RegionPtr& region, const Fault& fault) {
  const bool all_of_server = fault.remedy == Remedy::kReconnect;
  if (!all_of_server && fault.remedy != Remedy::kRelocate && fault.remedy != Remedy::kMoved) return;
  const std::lock_guard lock(mutex_);
  if (all_of_server) {
    for (auto& [table, regions] : tables_) {
      std::erase_if(regions,
                    [&](const auto& entry) { return entry.second->server == region->server; });
    }
    return;
  }
  const auto regions = tables_.find(region->table);
  if (regions == tables_.end()) return;
  const auto at = regions->second.find(region->begin);
  if (at == regions->second.end() || at->second != region) return;  // newer than the fault
  if (fault.moved && fault.moved->sequence > region->sequence) {
    auto moved = std::make_shared<Region>(*region);
    moved->server = {fault.moved->host, fault.moved->port};
    moved->sequence = fault.moved->sequence;
    at->second = std::move(moved);
    return;
  }
  regions->second.erase(at);
}

void RegionLocator::forget_table(const std::string& table) {
  const std::lock_guard lock(mutex_);
  tables_.erase(table);
}

}  // namespace halite::storage::hbase
