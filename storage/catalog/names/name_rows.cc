#include "storage/catalog/names/name_rows.h"

#include <algorithm>

#include "common/log.h"
#include "storage/catalog/names/name_kind.h"

namespace halite::storage {

// The ids of these names, with one read; nullopt if a name has none.
Task<NameRows::Ids> NameRows::read_rows(const std::vector<NameRow>& rows) {
  std::vector<RowRead> reads;
  reads.reserve(rows.size());
  for (const auto& [kind, row] : rows) {
    reads.push_back(RowRead{row, kIdFamily, {Bytes(name_kind_text(kind))}});
  }
  CO_TRY(const std::vector<Row> found, co_await table_->read(std::move(reads)));
  Ids uids(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (found[i].cells.empty()) continue;
    CO_TRY(uids[i], ids_.decode(rows[i].first, found[i].cells.front().value));
  }
  co_return uids;
}

Task<NameRows::Ids> NameRows::ids(std::vector<UidTable::NameRequest> names) {
  std::vector<NameRow> rows;
  rows.reserve(names.size());
  for (const auto& [kind, name, create] : names) rows.emplace_back(kind, ids_.bytes().of(name));
  CO_TRY(Ids ids, co_await read_rows(rows));
  CO_TRY_VOID(co_await add_earlier(names, ids));
  co_return ids;
}

// For a mixed table: writes OpenTSDB's row of names that have only an earlier version's. The ids
// are valid even if that fails. The caller waits for the write.
Task<void> NameRows::add_earlier(const std::vector<UidTable::NameRequest>& asked, Ids& uids) {
  std::vector<NameRow> rows;
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < asked.size(); ++i) {
    std::optional<Bytes> row = ids_.bytes().earlier(asked[i].name);
    if (!row) continue;
    rows.emplace_back(asked[i].kind, *std::move(row));
    places.push_back(i);
  }
  if (rows.empty()) co_return Result<void>();
  CO_TRY(const auto earlier, co_await read_rows(rows));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!earlier[i]) continue;
    const UidTable::NameRequest& request = asked[places[i]];
    std::optional<std::uint64_t>& uid = uids[places[i]];
    if (!uid) {
      const auto holder = co_await rewrite(request.kind, request.name, *earlier[i]);
      if (!holder) {
        log::warn("the name {} of kind '{}' keeps the form of an earlier version: {}", request.name,
                  name_kind_text(request.kind), holder.error().message);
      }
      uid = holder ? *holder : *earlier[i];
    }
    if (*uid != *earlier[i]) {
      log::warn(
          "the name {} of kind '{}' has two ids: {} in OpenTSDB's place, which is used, and {} "
          "from an earlier version, whose series can be found only by tsuid",
          request.name, name_kind_text(request.kind), to_hex(ids_.encode(request.kind, *uid)),
          to_hex(ids_.encode(request.kind, *earlier[i])));
    }
  }
  co_return Result<void>();
}

// Rewrites an id's name with OpenTSDB's bytes, the name's row first, as rename() does. Returns the
// id that the name has at the end. Keeps the earlier version's row for processes of that version.
Task<std::uint64_t> NameRows::rewrite(NameKind kind, std::string name, std::uint64_t uid) {
  CO_TRY(const std::uint64_t holder, co_await ids_.put_forward(kind, name, uid));
  if (holder == uid) CO_TRY_VOID(co_await put_name(kind, uid, name));
  co_return holder;
}

Task<void> NameRows::put_name(NameKind kind, std::uint64_t uid, std::string name) {
  std::vector<RowWrite> rows(1);
  rows[0].row = ids_.encode(kind, uid);
  rows[0].puts.push_back(
      CellWrite{Column{kNameFamily, Bytes(name_kind_text(kind))}, ids_.bytes().of(name), 0});
  co_return co_await table_->write(std::move(rows));
}

// Deletes the rows that map a name to its id, also an earlier version's.
Task<void> NameRows::delete_name(NameKind kind, std::string name, std::uint64_t uid) {
  std::vector<Bytes> keys = {ids_.bytes().of(name)};
  if (std::optional<Bytes> earlier = ids_.bytes().earlier(name)) {
    const std::vector<NameRow> asked = {{kind, *earlier}};
    CO_TRY(const auto found, co_await read_rows(asked));
    if (found.front() == uid) keys.push_back(*std::move(earlier));
  }
  std::vector<RowWrite> rows(keys.size());
  for (std::size_t i = 0; i < keys.size(); ++i) {
    rows[i].row = std::move(keys[i]);
    rows[i].deletes.push_back(Column{kIdFamily, Bytes(name_kind_text(kind))});
  }
  co_return co_await table_->write(std::move(rows));
}

Task<std::vector<std::string>> NameRows::names_in(NameKind kind, KeyRange range, std::string prefix,
                                                  std::size_t max) {
  ScanSpec spec;
  spec.family = kIdFamily;
  if (!range.begin.empty()) spec.ranges.push_back(std::move(range));
  spec.qualifier_begin = name_kind_text(kind);
  spec.qualifier_end = spec.qualifier_begin + '\0';
  spec.keys_only = true;
  const std::unique_ptr<Scanner> scanner = table_->scan(std::move(spec), {});
  std::vector<std::string> names;
  while (names.size() < max) {
    ScanLimit limit;
    limit.rows_max = static_cast<std::uint32_t>(std::min<std::size_t>(max - names.size(), 1024));
    CO_TRY(const std::vector<Row> rows, co_await scanner->next(limit));
    if (rows.empty()) break;
    for (const Row& row : rows) {
      if (!check_name(kind, row.key)) continue;  // skips the counters
      std::string name = ids_.bytes().name(row.key);
      if (name.starts_with(prefix)) names.push_back(std::move(name));
    }
  }
  co_return names;
}

}  // namespace halite::storage
