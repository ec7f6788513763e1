// The state of one SeriesRegistry::intern() call: resolves names to uids, then uids to series.
// Private to the registry.
//
// Each name is looked up once. Agents send series whose tags are mostly alike, so a name in the
// position that it had in the previous series is not looked up at all.
//
//   Lifetime  the name table must outlive it. Not thread-safe.
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

  // Forbids new names for a series: it is refused for this reason if a name has no id.
  void close(std::size_t index, const Error& reason) { closed_.insert_or_assign(index, reason); }
  // Series with unknown names that are not refused so far.
  [[nodiscard]] std::vector<std::size_t> incomplete() const;
  [[nodiscard]] const std::string& metric_of(std::size_t index) const {
    return names_[index].metric;
  }
  // For a series that is not refused, after the metrics are resolved.
  [[nodiscard]] std::uint64_t metric_uid_of(std::size_t index) const {
    return entries_[begins_[index]].uid;
  }

  // The names of one kind that have no id yet, without duplicates, in the order in which OpenTSDB
  // assigns ids. Pass their results to resolved() before the next kind.
  [[nodiscard]] std::vector<UidTable::NameRequest> unknown(NameKind kind, bool create);
  void resolved(std::span<const Result<UidTable::NameMapping>> entries);

  // The tsuid of a series that is not refused, after all kinds are resolved.
  [[nodiscard]] Bytes tsuid_of(std::size_t index, const UidWidths& widths);

  // A series that is not known yet.
  struct NewEntry {
    std::size_t index = 0;  // index in names
    NewSeries series;
  };
  // With or without tags; its shard is not set.
  [[nodiscard]] NewEntry fresh(std::size_t index, Bytes tsuid, bool with_tags) const;
  [[nodiscard]] std::size_t tags_of(std::size_t index) const { return names_[index].tags.size(); }

  [[nodiscard]] std::size_t size() const { return names_.size(); }
  [[nodiscard]] bool refused(std::size_t index) const { return !outcomes_[index]; }
  void refuse(std::size_t index, const Error& error);
  // Refuses a series that is over quota.
  void refuse_over_quota(std::size_t index, const Error& error);
  [[nodiscard]] std::span<const std::size_t> over_quota() const { return over_quota_; }
  void accept(std::size_t index, SeriesId id) { outcomes_[index] = id; }
  [[nodiscard]] std::vector<Result<SeriesId>> take_outcomes() { return std::move(outcomes_); }

 private:
  using NameMapping = UidTable::NameMapping;
  // An entry that waits for the result of a request.
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
  std::vector<Result<SeriesId>> outcomes_;  // a value until the name is refused
  // The entries of series i begin at begins_[i]: metric, then key and value of each tag. 0:
  // unknown.
  std::vector<NameMapping> entries_;
  std::vector<std::size_t> begins_;
  std::vector<std::size_t> incomplete_;  // series with unknown names
  boost::unordered_flat_map<std::size_t, Error> closed_;
  std::vector<std::size_t> over_quota_;
  bool create_ = false;      // from the last unknown()
  std::vector<Wait> waits_;  // for the results of the last unknown()
  boost::unordered_flat_map<std::string_view, std::size_t> requested_;  // name -> its request
  std::vector<UidPair> pairs_;                                          // used by tsuid_of()
};

}  // namespace halite::storage
