#include "tests/support/fake_hbase_data.h"

#include <algorithm>

namespace halite::test {

void FakeHBaseData::add_table(const std::string& table, const std::vector<Bytes>& split_keys) {
  Bytes begin;
  for (std::size_t i = 0; i <= split_keys.size(); ++i) {
    const Bytes end = i < split_keys.size() ? split_keys[i] : Bytes();
    FakeRegion region;
    region.table = table;
    region.begin = begin;
    region.end = end;
    regions_.push_back(region);
    begin = end;
  }
  tables_.try_emplace(table);
}

void FakeHBaseData::drop_table(const std::string& table) {
  std::erase_if(regions_, [&table](const FakeRegion& region) { return region.table == table; });
  tables_.erase(table);
  disabled_.erase(table);
}

void FakeHBaseData::set_disabled(const std::string& table, bool disabled) {
  if (disabled) {
    disabled_.insert(table);
  } else {
    disabled_.erase(table);
  }
}

FakeRegion* FakeHBaseData::region_of(const std::string& table, BytesView row) {
  const auto found = std::ranges::find_if(regions_, [&](const FakeRegion& region) {
    return region.table == table && region.contains(row);
  });
  return found == regions_.end() ? nullptr : &*found;
}

FakeRegion* FakeHBaseData::region_named(BytesView full_name) {
  constexpr std::size_t kHash = 34;  // 32 digits between two dots
  if (full_name.size() < kHash) return nullptr;
  const BytesView name = full_name.substr(0, full_name.size() - kHash);
  const auto found = std::ranges::find(regions_, name, &FakeRegion::name);
  return found == regions_.end() ? nullptr : &*found;
}

std::vector<FakeCell> FakeHBaseData::cells(const std::string& table, BytesView row,
                                           bool all_versions) const {
  std::vector<FakeCell> cells;
  const auto rows = tables_.find(table);
  if (rows == tables_.end()) return cells;
  const auto found = rows->second.find(row);
  if (found == rows->second.end()) return cells;
  for (const auto& [column, versions] : found->second) {
    for (const auto& [time, value] : versions) {
      cells.push_back({found->first, column.first, column.second, time, value});
      if (!all_versions) break;
    }
  }
  return cells;
}

std::vector<Bytes> FakeHBaseData::rows(const std::string& table, const Bytes& begin,
                                       const Bytes& end) const {
  std::vector<Bytes> keys;
  const auto rows = tables_.find(table);
  if (rows == tables_.end()) return keys;
  for (auto it = rows->second.lower_bound(begin); it != rows->second.end(); ++it) {
    if (!end.empty() && it->first >= end) break;
    if (!cells(table, it->first).empty()) keys.push_back(it->first);
  }
  return keys;
}

void FakeHBaseData::put(const std::string& table, FakeCell cell) {
  const Column column{cell.family, cell.qualifier};
  const auto hidden = hidden_.find({table, cell.row, column});
  if (hidden != hidden_.end() && cell.time <= hidden->second) return;
  tables_[table][cell.row][column][cell.time] = std::move(cell.value);
}

void FakeHBaseData::remove(const std::string& table, const FakeCell& column, std::uint64_t until) {
  std::uint64_t& hidden = hidden_[{table, column.row, {column.family, column.qualifier}}];
  hidden = std::max(hidden, until);
  std::erase_if(tables_[table][column.row][{column.family, column.qualifier}],
                [until](const auto& version) { return version.first <= until; });
}

void FakeHBaseData::remove_version(const std::string& table, const FakeCell& cell) {
  tables_[table][cell.row][{cell.family, cell.qualifier}].erase(cell.time);
}

void FakeHBaseData::append(const std::string& table, const FakeCell& cell,
                           std::uint64_t nonce_group, std::uint64_t nonce) {
  if (nonce != 0 && !nonces_.emplace(std::pair{nonce_group, nonce}, 0).second) return;
  Versions& versions = tables_[table][cell.row][{cell.family, cell.qualifier}];
  FakeCell longer = cell;
  if (!versions.empty()) {
    longer.value = versions.begin()->second + cell.value;
    longer.time = std::max(now(), versions.begin()->first);
  }
  put(table, std::move(longer));
}

std::optional<std::int64_t> FakeHBaseData::increment(const std::string& table, const FakeCell& at,
                                                     std::int64_t delta, std::uint64_t nonce_group,
                                                     std::uint64_t nonce) {
  const std::pair operation{nonce_group, nonce};
  const auto before = nonces_.find(operation);
  if (before != nonces_.end()) return before->second;
  Versions& versions = tables_[table][at.row][{at.family, at.qualifier}];
  auto sum = static_cast<std::uint64_t>(delta);
  if (!versions.empty()) {
    const Bytes& value = versions.begin()->second;
    if (value.size() != sizeof sum) return std::nullopt;
    sum += load_be<std::uint64_t>(value.data());
  }
  Bytes value;
  append_be(value, sum);
  versions[now()] = std::move(value);
  if (nonce != 0) nonces_[operation] = static_cast<std::int64_t>(sum);
  return static_cast<std::int64_t>(sum);
}

}  // namespace halite::test
