#include "storage/meta/objects/family_store.h"

#include <algorithm>
#include <array>
#include <functional>
#include <string_view>
#include <utility>

namespace halite::storage {
namespace {

constexpr Family kFamily = 0;

struct Field {
  std::string_view qualifier;
  std::string FamilyFields::* text;
};
constexpr std::array kFields = {Field{"help", &FamilyFields::help},
                                Field{"type", &FamilyFields::type},
                                Field{"unit", &FamilyFields::unit}};

void take_row(const Row& row, Families& to) {
  FamilyFields& fields = to[row.key];
  for (const Cell& cell : row.cells) {
    const auto* const field = std::ranges::find(kFields, cell.qualifier, &Field::qualifier);
    if (field != kFields.end()) fields.*(field->text) = cell.value;
  }
}

}  // namespace

TableSpec family_table_spec(std::string name) {
  TableSpec spec;
  spec.name = std::move(name);
  spec.families = {FamilySpec{"f", 0}};
  return spec;
}

std::vector<RowWrite> FamilyStore::begin(const Families& families, std::vector<Change>& changes) {
  std::vector<RowWrite> rows;
  const std::scoped_lock lock(mutex_);
  for (const auto& [name, fields] : families) {
    if (name.empty() || name.size() > kTextBytesMax) continue;
    RowWrite row{.row = name, .puts = {}, .deletes = {}};
    for (const Field& field : kFields) {
      const std::string& text = fields.*(field.text);
      if (text.empty() || text.size() > kTextBytesMax) continue;
      const std::hash<std::string_view> hash;
      const Change change{.cell = hash(name) * 31 + hash(field.qualifier), .text = hash(text) | 1U};
      if (known_.size() >= kKnownMax) known_.clear();
      KnownText& known = known_[change.cell];
      if (known.writing == 0 && known.text == change.text) continue;
      known.contested = known.writing > 0;
      ++known.writing;
      changes.push_back(change);
      row.puts.push_back({.column = {kFamily, Bytes(field.qualifier)}, .value = text});
    }
    if (!row.puts.empty()) rows.push_back(std::move(row));
  }
  return rows;
}

void FamilyStore::end(const std::vector<Change>& changes, bool written) {
  const std::scoped_lock lock(mutex_);
  for (const Change& change : changes) {
    const auto found = known_.find(change.cell);
    if (found == known_.end() || found->second.writing == 0) continue;  // it began anew
    KnownText& known = found->second;
    --known.writing;
    known.text = written && !known.contested ? change.text : 0;
  }
}

Task<void> FamilyStore::put(Families families) {
  std::vector<Change> changes;
  std::vector<RowWrite> rows = begin(families, changes);
  if (rows.empty()) co_return Result<void>();
  Result<void> written = co_await table_->write(std::move(rows));
  end(changes, written.has_value());
  co_return written;
}

Task<Families> FamilyStore::read(std::optional<std::string> name, std::size_t families_max) {
  Families families;
  if (name) {
    if (name->empty() || name->size() > kTextBytesMax) co_return std::move(families);
    std::vector<RowRead> reads;
    reads.push_back(RowRead{*std::move(name), kFamily, {}});
    CO_TRY(const std::vector<Row> rows, co_await table_->read(std::move(reads)));
    for (const Row& row : rows) {
      if (!row.cells.empty()) take_row(row, families);
    }
    co_return std::move(families);
  }
  ScanSpec spec;
  spec.family = kFamily;
  const std::unique_ptr<Scanner> scanner = table_->scan(std::move(spec), {});
  while (families.size() < families_max) {
    CO_TRY(const std::vector<Row> rows, co_await scanner->next({}));
    if (rows.empty()) break;
    for (const Row& row : rows) {
      if (families.size() < families_max || families.contains(row.key)) take_row(row, families);
    }
  }
  co_return std::move(families);
}

}  // namespace halite::storage
