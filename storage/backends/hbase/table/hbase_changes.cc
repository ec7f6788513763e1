#include "storage/backends/hbase/table/hbase_changes.h"

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>

namespace halite::storage {
namespace {

bool same_column(const hbase::Cell& a, const hbase::Cell& b) {
  return a.family == b.family && a.qualifier == b.qualifier;
}

bool before(const hbase::Cell& a, const hbase::Cell& b) {
  return std::tie(a.family, a.qualifier) < std::tie(b.family, b.qualifier);
}

// Points arrive in order, so there is mostly nothing to do.
void resolve_repeated(std::vector<hbase::Cell>& cells) {
  const auto not_rising = [](const hbase::Cell& a, const hbase::Cell& b) { return !before(a, b); };
  if (std::ranges::adjacent_find(cells, not_rising) == cells.end()) return;
  std::vector<std::size_t> order(cells.size());
  std::iota(order.begin(), order.end(), 0);
  std::ranges::sort(order, [&cells](std::size_t a, std::size_t b) {
    const hbase::Cell& x = cells[a];
    const hbase::Cell& y = cells[b];
    return std::tie(x.family, x.qualifier, x.time, a) < std::tie(y.family, y.qualifier, y.time, b);
  });
  std::vector<hbase::Cell> kept;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool repeated = i + 1 < order.size() && same_column(cells[order[i]], cells[order[i + 1]]);
    if (!repeated) kept.push_back(std::move(cells[order[i]]));  // the last of each column
  }
  cells = std::move(kept);
}

void add(RowWrite& from, const std::vector<Bytes>& families, HybridClock& clock,
         hbase::RowMutation& to) {
  for (Column& column : from.deletes) {
    const Bytes& family = families[column.family];
    std::erase_if(to.puts, [&](const hbase::Cell& cell) {
      return cell.qualifier == column.qualifier && cell.family == family;
    });
    to.deletes.push_back({.kind = hbase::DeleteKind::kVersions,
                          .family = family,
                          .qualifier = std::move(column.qualifier)});
  }
  to.puts.reserve(to.puts.size() + from.puts.size());
  for (CellWrite& put : from.puts) {
    to.puts.push_back({.family = families[put.column.family],
                       .qualifier = std::move(put.column.qualifier),
                       .value = std::move(put.value),
                       .time = clock.time_for(put.time)});
  }
}

}  // namespace

std::vector<hbase::RowMutation> mutations_of(std::vector<RowWrite> rows,
                                             const std::vector<Bytes>& families,
                                             HybridClock& clock) {
  std::vector<hbase::RowMutation> mutations;
  mutations.reserve(rows.size());
  boost::unordered_flat_map<BytesView, std::size_t> places;  // keys in `rows`
  places.reserve(rows.size());
  for (RowWrite& row : rows) {
    if (row.puts.empty() && row.deletes.empty()) continue;
    const auto [place, is_new] = places.try_emplace(row.row, mutations.size());
    if (is_new) mutations.emplace_back().row = row.row;
    add(row, families, clock, mutations[place->second]);
  }
  for (hbase::RowMutation& mutation : mutations) resolve_repeated(mutation.puts);
  return mutations;
}

std::vector<hbase::RowMutation> deletes_of_newer(const std::vector<hbase::Row>& rows,
                                                 TimestampMs until) {
  std::vector<hbase::RowMutation> mutations;
  for (const hbase::Row& row : rows) {
    hbase::RowMutation mutation{.row = row.key, .puts = {}, .deletes = {}};
    for (const hbase::Cell& cell : row.cells) {
      if (cell.time <= until) continue;
      mutation.deletes.push_back({.kind = hbase::DeleteKind::kVersion,
                                  .family = cell.family,
                                  .qualifier = cell.qualifier,
                                  .time = cell.time});
    }
    if (!mutation.deletes.empty()) mutations.push_back(std::move(mutation));
  }
  return mutations;
}

void stamp_deletes(hbase::RowMutation& row, TimestampMs until) {
  for (hbase::CellDelete& one : row.deletes) {
    one.time = until;
    for (hbase::Cell& cell : row.puts) {
      const bool hidden =
          cell.time <= until && cell.qualifier == one.qualifier && cell.family == one.family;
      if (hidden) cell.time = until + 1;
    }
  }
}

}  // namespace halite::storage
