#include "query/promql/eval/info.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <boost/unordered/unordered_flat_map.hpp>
#include <fmt/format.h>
#include <re2/re2.h>

#include "query/promql/eval/column_reader.h"
#include "query/promql/eval/merge.h"

namespace halite::query::promql {
namespace {

constexpr std::array<std::string_view, 2> kIdentifyingLabels = {"instance", "job"};
constexpr std::uint32_t kNoInfo = std::numeric_limits<std::uint32_t>::max();

// More of them are not searched for: all info series are read.
constexpr std::size_t kValuesInSelector = 64;

using ValueSet = std::set<std::string_view>;

bool matches_all(const std::vector<LabelMatcher>& matchers, std::string_view value) {
  return std::ranges::all_of(matchers,
                             [value](const LabelMatcher& one) { return one.matches(value); });
}

bool is_info(const Row& row, const InfoMatchers& matchers) {
  return matches_all(matchers.names, row.labels.get(kMetricLabel));
}

Result<LabelMatcher> make_matcher(std::string_view name, MatchKind kind, std::string value) {
  return LabelMatcher::make(std::string(name), kind, std::move(value), storage::Regexps());
}

Result<LabelMatcher> one_of(std::string_view label, const ValueSet& values) {
  if (values.size() == 1) {
    return make_matcher(label, MatchKind::kEqual, std::string(*values.begin()));
  }
  if (values.size() > kValuesInSelector) return make_matcher(label, MatchKind::kNotEqual, "");
  std::vector<std::string> quoted;
  for (const std::string_view value : values) {
    quoted.push_back(re2::RE2::QuoteMeta(re2::StringPiece(value.data(), value.size())));
  }
  return make_matcher(label, MatchKind::kRegexp, fmt::format("{}", fmt::join(quoted, "|")));
}

// The values of each identifying label that rows have.
std::array<ValueSet, kIdentifyingLabels.size()> identities(const Vector& base,
                                                           const InfoMatchers& matchers) {
  std::array<ValueSet, kIdentifyingLabels.size()> found;
  for (const Row& row : base.rows) {
    if (is_info(row, matchers)) continue;
    for (std::size_t i = 0; i < found.size(); ++i) {
      const std::string_view value = row.labels.get(kIdentifyingLabels[i]);
      if (!value.empty()) found[i].insert(value);
    }
  }
  return found;
}

std::string identity_of(const Labels& labels) {
  std::string key;
  for (const std::string_view label : kIdentifyingLabels) append_key_part(key, labels.get(label));
  return key;
}

// The info rows of one metric and one identity: one of them counts at each step.
struct InfoGroup {
  std::string_view metric;
  std::vector<std::uint32_t> newest;  // a row for each step, or kNoInfo
};

// All info rows by identity.
class InfoRows {
 public:
  // The rows outlive it.
  InfoRows(const std::vector<Row>& rows, std::size_t steps) : rows_(&rows), steps_(steps) {}

  // `asked`: whether any row of the base has a value at a step.
  Result<void> add(std::uint32_t row, const std::vector<bool>& asked, QueryBudget& budget) {
    TRY(InfoGroup* const group, group_of((*rows_)[row].labels, budget));
    const std::vector<double>& times = (*rows_)[row].values;
    for (std::size_t i = 0; i < steps_; ++i) {
      if (!asked[i] || is_absent(times[i])) continue;
      std::uint32_t& newest = group->newest[i];
      if (newest != kNoInfo && (*rows_)[newest].values[i] == times[i]) {
        return duplicate((*rows_)[newest], (*rows_)[row], times[i]);
      }
      if (newest == kNoInfo || (*rows_)[newest].values[i] < times[i]) newest = row;
    }
    return {};
  }
  [[nodiscard]] std::span<const InfoGroup> of(const Labels& labels) const {
    const auto found = groups_.find(identity_of(labels));
    return found == groups_.end() ? std::span<const InfoGroup>() : found->second;
  }

 private:
  Result<InfoGroup*> group_of(const Labels& labels, QueryBudget& budget) {
    std::vector<InfoGroup>& groups = groups_[identity_of(labels)];
    const std::string_view metric = labels.get(kMetricLabel);
    const auto found = std::ranges::find(groups, metric, &InfoGroup::metric);
    if (found != groups.end()) return &*found;
    TRY_VOID(budget.add_bytes(static_cast<std::int64_t>(steps_ * sizeof(std::uint32_t))));
    groups.push_back({.metric = metric, .newest = std::vector<std::uint32_t>(steps_, kNoInfo)});
    return &groups.back();
  }
  static std::unexpected<Error> duplicate(const Row& existing, const Row& added, double seconds) {
    const auto ms = static_cast<TimestampMs>(std::llround(seconds * 1000));
    return fail(Errc::kInvalidArgument,
                fmt::format("found duplicate series for info metric: existing {} @ {}, new {} @ {}",
                            existing.labels.text(), ms, added.labels.text(), ms));
  }

  const std::vector<Row>* rows_;
  const std::size_t steps_;
  std::unordered_map<std::string, std::vector<InfoGroup>> groups_;
};

// Joins one row after the other.
class Joiner {
 public:
  Joiner(const std::vector<Row>& info, const InfoRows& groups, const InfoMatchers& matchers,
         QueryBudget& budget)
      : info_(info),
        groups_(groups),
        matchers_(matchers),
        budget_(budget),
        needs_info_(!std::ranges::all_of(matchers.labels, &LabelMatcher::matches_absent)) {}

  // Appends to `to`.
  Result<void> join(Row row, std::vector<Row>& to) {
    const std::span<const InfoGroup> groups = groups_.of(row.labels);
    rows_.clear();
    std::vector<std::uint32_t> found(groups.size());
    std::vector<std::uint32_t> before;
    std::size_t at = 0;
    for (std::size_t i = 0; i < row.values.size(); ++i) {
      if (is_absent(row.values[i])) continue;
      for (std::size_t g = 0; g < groups.size(); ++g) found[g] = groups[g].newest[i];
      const bool has_info = std::ranges::any_of(found, [](auto one) { return one != kNoInfo; });
      if (!has_info && needs_info_) continue;
      if (rows_.empty() || before != found) {
        const auto [known, is_new] = rows_.try_emplace(found, to.size());
        if (is_new) {
          TRY(Labels labels, labels_with(row.labels, found));
          TRY_VOID(budget_.add_bytes(row_bytes(labels, row.values.size())));
          to.push_back({.labels = std::move(labels),
                        .values = std::vector<double>(row.values.size(), kAbsent)});
        }
        at = known->second;
        before = found;
      }
      to[at].values[i] = row.values[i];
    }
    return {};
  }

 private:
  [[nodiscard]] bool adds(const Label& label) const {
    if (label.name == kMetricLabel) return false;
    return matchers_.labels.empty() ||
           std::ranges::any_of(matchers_.labels, [&label](const LabelMatcher& one) {
             return one.name() == label.name;
           });
  }

  [[nodiscard]] Result<Labels> labels_with(const Labels& base,
                                           const std::vector<std::uint32_t>& found) const {
    Labels added;
    for (const std::uint32_t row : found) {
      if (row == kNoInfo) continue;
      for (const Label& label : info_[row].labels) {
        if (!adds(label) || !base.get(label.name).empty()) continue;
        const std::string_view before = added.get(label.name);
        if (!before.empty() && before != label.value) {
          return fail(Errc::kInvalidArgument, fmt::format("conflicting label: {}", label.name));
        }
        added.set(label.name, label.value);
      }
    }
    Labels all = base;
    for (const Label& label : added) all.set(label.name, label.value);
    return all;
  }

  const std::vector<Row>& info_;
  const InfoRows& groups_;
  const InfoMatchers& matchers_;
  QueryBudget& budget_;
  const bool needs_info_;  // rows without it are left out
  // The new rows of the row that is joined, by their info rows.
  boost::unordered_flat_map<std::vector<std::uint32_t>, std::size_t> rows_;
};

std::vector<bool> steps_with_values(const Vector& base) {
  std::vector<bool> has(base.rows.front().values.size());
  for (const Row& row : base.rows) {
    for (std::size_t i = 0; i < has.size(); ++i) has[i] = has[i] || is_present(row.values[i]);
  }
  return has;
}

}  // namespace

Result<InfoMatchers> info_matchers(const VectorSelector* argument) {
  InfoMatchers matchers;
  if (argument != nullptr) {
    for (const LabelMatcher& matcher : argument->matchers) {
      (matcher.name() == kMetricLabel ? matchers.names : matchers.labels).push_back(matcher);
    }
  }
  const bool names_some = std::ranges::any_of(matchers.names, [](const LabelMatcher& one) {
    return one.kind() == MatchKind::kEqual || one.kind() == MatchKind::kRegexp;
  });
  if (names_some) return matchers;
  // Only what is not wanted, or nothing: then there is a default.
  TRY(LabelMatcher usual, matchers.names.empty()
                              ? make_matcher(kMetricLabel, MatchKind::kEqual, "target_info")
                              : make_matcher(kMetricLabel, MatchKind::kRegexp, ".+_info"));
  matchers.names.push_back(std::move(usual));
  return matchers;
}

Result<std::optional<Selector>> info_selector(const Vector& base, const InfoMatchers& matchers) {
  const auto values = identities(base, matchers);
  Selector selector;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i].empty()) continue;
    TRY(LabelMatcher matcher, one_of(kIdentifyingLabels[i], values[i]));
    selector.matchers.push_back(std::move(matcher));
  }
  if (selector.matchers.empty()) return std::nullopt;
  for (const auto* const more : {&matchers.labels, &matchers.names}) {
    selector.matchers.insert(selector.matchers.end(), more->begin(), more->end());
  }
  return selector;
}

Result<Vector> join_info(Vector base, std::vector<Row> info, const InfoMatchers& matchers,
                         QueryBudget& budget) {
  Vector joined;
  if (base.rows.empty()) return joined;
  const auto values = identities(base, matchers);
  std::ranges::sort(info, {}, &Row::labels);
  const std::vector<bool> asked = steps_with_values(base);
  InfoRows groups(info, asked.size());
  for (std::uint32_t r = 0; r < info.size(); ++r) {
    bool belongs = true;
    for (std::size_t i = 0; i < values.size(); ++i) {
      belongs &= values[i].empty() || values[i].contains(info[r].labels.get(kIdentifyingLabels[i]));
    }
    if (belongs) TRY_VOID(groups.add(r, asked, budget));
  }
  Joiner joiner(info, groups, matchers, budget);
  for (Row& row : base.rows) {
    TRY_VOID(budget.check());
    if (is_info(row, matchers)) {
      joined.rows.push_back(std::move(row));
    } else {
      TRY_VOID(joiner.join(std::move(row), joined.rows));
    }
  }
  TRY_VOID(merge_equal(joined));
  return joined;
}

}  // namespace halite::query::promql
