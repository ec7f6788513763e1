// One SeriesRegistry::intern() under way: names become entries of the names table, those become
// series. Private to the registry.
//
// Each name is looked up once; agents send series by series with most of their tags alike, so a
// name that stands where it stood in the series before is not looked up at all.
//
//   Lifetime  the table of names outlives it; for one coroutine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "storage/api/point_store.h"
#include "storage/catalog/names/uid_table.h"
#include "storage/catalog/series_table.h"
#include "storage/cells/layouts/tsuid.h"

namespace halite::storage {

class InternBatch {
 public:
  InternBatch(const UidTable& uids, std::vector<SeriesName> names);

  // Series that may make no names from now on: one that has a name without an id is refused for
  // this reason.
  void close(std::size_t index, const Error& reason) { closed_.insert_or_assign(index, reason); }
  // Those that some name of is not known yet, and that are not refused so far.
  [[nodiscard]] std::vector<std::size_t> incomplete() const;
  [[nodiscard]] const std::string& metric_of(std::size_t index) const {
    return names_[index].metric;
  }
  // Of one that is not refused, once the kind is resolved.
  [[nodiscard]] std::uint64_t metric_uid_of(std::size_t index) const {
    return entries_[begins_[index]].uid;
  }

  // The names of one kind that have no id yet, each once, in the order in which OpenTSDB would give
  // them ids. What became of them goes to resolved() before the next kind.
  [[nodiscard]] std::vector<UidTable::NameRequest> unknown(NameKind kind, bool create);
  void resolved(std::span<const Result<UidTable::NameMapping>> entries);

  // The tsuid of one that is not refused, once all kinds are resolved.
  [[nodiscard]] Bytes tsuid_of(std::size_t index, const UidWidths& widths);

  // A series that is not known yet.
  struct NewEntry {
    std::size_t index = 0;  // in names
    NewSeries series;
  };
  // With its tags or without; its shard is left open.
  [[nodiscard]] NewEntry fresh(std::size_t index, Bytes tsuid, bool with_tags) const;
  [[nodiscard]] std::size_t tags_of(std::size_t index) const { return names_[index].tags.size(); }

  [[nodiscard]] std::size_t size() const { return names_.size(); }
  [[nodiscard]] bool refused(std::size_t index) const { return !outcomes_[index]; }
  void refuse(std::size_t index, const Error& error);
  // The same for a series that is one too many.
  void refuse_over_quota(std::size_t index, const Error& error);
  [[nodiscard]] std::span<const std::size_t> over_quota() const { return over_quota_; }
  void accept(std::size_t index, SeriesId id) { outcomes_[index] = id; }
  [[nodiscard]] std::vector<Result<SeriesId>> take_outcomes() { return std::move(outcomes_); }

 private:
  using NameMapping = UidTable::NameMapping;
  // An entry that waits for a request.
  struct Wait {
    std::size_t slot = 0;
    std::size_t series = 0;
    std::size_t request = 0;
  };

  void look_up(const UidTable& uids);
  [[nodiscard]] const std::string& name_at(std::size_t series, std::size_t place) const;
  void want(std::size_t series, std::size_t place, NameKind kind, bool create,
            std::vector<UidTable::NameRequest>& requests);

  const std::vector<SeriesName> names_;
  std::vector<Result<SeriesId>> outcomes_;  // good until something refuses the name
  // Of series i from begins_[i] on: its metric, then key and value of each tag. Id 0: not known.
  std::vector<NameMapping> entries_;
  std::vector<std::size_t> begins_;
  std::vector<std::size_t> incomplete_;  // series with unknown names
  boost::unordered_flat_map<std::size_t, Error> closed_;
  std::vector<std::size_t> over_quota_;
  bool create_ = false;      // what unknown() was told last
  std::vector<Wait> waits_;  // for what unknown() gave last
  boost::unordered_flat_map<std::string_view, std::size_t> requested_;  // by name: its request
  std::vector<UidPair> pairs_;                                          // tsuid_of()'s
};

}  // namespace halite::storage
