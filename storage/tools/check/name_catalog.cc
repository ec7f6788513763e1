#include "storage/tools/check/name_catalog.h"

#include <algorithm>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <xxhash.h>

#include "common/threads/run_here.h"
#include "storage/catalog/names/name_kind.h"
#include "storage/catalog/names/uid_assigner.h"
#include "storage/catalog/series_rows.h"
#include "storage/catalog/table_settings.h"
#include "storage/cells/layouts/tsuid.h"
#include "storage/tsdb/core/engine_cell.h"

namespace halite::storage::check {
namespace {

std::uint64_t hash_of(BytesView tsuid) { return XXH3_64bits(tsuid.data(), tsuid.size()); }

// The layout of keys is fixed; the TTL does not matter for a full read.
Result<std::shared_ptr<const CyclicLayout>> layout_of(const TableParameters& made) {
  CyclicOptions options;
  options.widths = made.widths;
  options.salt_buckets = made.salt_buckets;
  options.span_ms = made.span_ms;
  options.future_max_ms = 0;
  options.cleaning_ms = 0;
  if (made.slots != 0) {
    options.slots = made.slots;
    options.ttl_ms = 1;
  }
  TRY(auto layout, CyclicLayout::make(options));
  return std::shared_ptr<const CyclicLayout>(std::move(layout));
}

}  // namespace

Result<void> NameCatalog::read_layout(RocksStore& store) {
  TRY(settings_, run_here(store.open_table(settings_table_spec(options_.settings_table))));
  TRY_VOID(read_retention());
  const UidWidths& widths = retention_->base().widths();
  TRY(names_table_, run_here(store.open_table(uid_table_spec(options_.uid_table))));
  names_ = std::make_unique<UidTable>(names_table_, widths);
  TRY(series_table_, run_here(store.open_table(series_table_spec(options_.series_table))));
  return {};
}

Result<void> NameCatalog::read(RocksStore& store) {
  TRY_VOID(read_layout(store));
  all_known_ = true;  // the series of findings must not be reported as unknown too
  TRY_VOID(each_series([this](BytesView tsuid) { known_.insert(hash_of(tsuid)); }));
  UidAssigner ids(names_table_, retention_->base().widths());
  for (const NameKind kind : kNameKinds) {
    TRY(last_ids_[static_cast<std::size_t>(kind)], run_here(ids.last_reserved(kind)));
  }
  return {};
}

Result<void> NameCatalog::read_retention() {
  TRY(const std::optional<TableParameters> made,
      run_here(read_parameters(settings_, std::string(engine::kEngineRow))));
  if (!made) {
    return fail(Errc::kNotFound, "the settings table has no entry for the engine's points");
  }
  TRY(auto layout, layout_of(*made));
  TRY(engine::RetentionState classes, run_here(engine::read_retention(settings_)));
  for (engine::RetentionState::Class& one : classes.classes) one.ttl_ms = one.slots != 0 ? 1 : 0;
  TRY(retention_, engine::Retention::make(std::move(layout), std::move(classes)));
  return {};
}

void NameCatalog::add_name(NameKind kind, std::uint64_t uid, BytesView name) {
  read_names_[{kind, uid}] = std::string(name);
  std::uint64_t& last = last_ids_[static_cast<std::size_t>(kind)];
  last = std::max(last, uid);
}

void NameCatalog::add_series(BytesView tsuid) {
  if (known_.insert(hash_of(tsuid)).second) logged_.insert(Bytes(tsuid));
}

bool NameCatalog::knows(BytesView tsuid) const {
  return !all_known_ || known_.contains(hash_of(tsuid));
}

std::uint64_t NameCatalog::last_id(NameKind kind) const {
  return last_ids_[static_cast<std::size_t>(kind)];
}

std::string NameCatalog::name(NameKind kind, std::uint64_t uid) {
  const auto [known, is_new] = read_names_.try_emplace({kind, uid});
  if (!is_new) return known->second;
  known->second = fmt::format("#{:x}", uid);
  if (names_ == nullptr) return known->second;
  const Result<UidTable::NameMapping> entry = run_here(names_->name_of(kind, uid));
  if (entry) known->second = std::string(entry->name);
  return known->second;
}

std::string NameCatalog::text(BytesView tsuid) {
  if (retention_ == nullptr) return to_hex(tsuid);
  const Result<SeriesUids> uids = parse_tsuid(retention_->base().widths(), tsuid);
  if (!uids) return to_hex(tsuid);
  std::string text = name(NameKind::kMetric, uids->metric) + "{";
  for (const UidPair& pair : uids->pairs) {
    if (!text.ends_with('{')) text += ',';
    text += fmt::format("{}={}", name(NameKind::kTagKey, pair.key),
                        name(NameKind::kTagValue, pair.value));
  }
  return text + "}";
}

std::uint32_t NameCatalog::shard_of(BytesView tsuid) {
  const Result<SeriesUids> uids = parse_tsuid(retention_->base().widths(), tsuid);
  if (!uids) return 0;
  return retention_->shard_of(uids->metric, name(NameKind::kMetric, uids->metric), tsuid);
}

Result<void> NameCatalog::each_series(const std::function<void(BytesView tsuid)>& visit) {
  for (const Bytes& tsuid : logged_) visit(tsuid);
  if (series_table_ == nullptr) return {};
  const std::unique_ptr<Scanner> rows = scan_series_rows(*series_table_, {}, {});
  while (true) {
    TRY(const std::vector<Row> batch, run_here(rows->next(ScanLimit())));
    if (batch.empty()) return {};
    for (const Row& row : batch) visit(row.key);
  }
}

}  // namespace halite::storage::check
