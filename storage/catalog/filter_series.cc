#include "storage/catalog/filter_series.h"

#include <algorithm>

namespace halite::storage {
namespace {

// Number of series tested between two checks of the budget.
constexpr std::size_t kSeriesPerCheck = 4096;
// Members copied from the table at a time, because their metric is locked meanwhile.
constexpr std::size_t kMembersPerStep = 64 << 10;
// The cost of finding a member by its tag set, in members passed over.
constexpr std::uint64_t kPassesPerFind = 8;
// A set is intersected with another that is at most this many times larger; beyond that, testing
// its members one by one is faster.
constexpr std::uint64_t kCutMax = 32;

// The tag sets that can match, and the matchers still to be tested.
struct Candidates {
  bool all = true;  // true: every set, nothing is excluded yet
  IdSet sets;
  std::vector<const TagKeyMatcher*> unasked;

  [[nodiscard]] std::uint64_t size(std::uint64_t of) const { return all ? of : sets.cardinality(); }
  void cut(IdSet with) {
    if (all) {
      sets = std::move(with);
    } else {
      sets &= with;
    }
    all = false;
  }
};

struct LiteralCondition {
  const TagKeyMatcher* condition = nullptr;
  std::uint64_t sets = 0;  // number of sets with one of the literals
};

// Rarest first, because it limits the cost of the others.
std::vector<LiteralCondition> by_rarity(const TagIndex& index,
                                        std::span<const TagKeyMatcher> matchers) {
  std::vector<LiteralCondition> rare;
  for (const TagKeyMatcher& condition : matchers) {
    if (!condition.literals()) continue;
    LiteralCondition& one = rare.emplace_back();
    one.condition = &condition;
    for (const std::uint64_t value : *condition.literals()) {
      one.sets += index.count(condition.key_uid(), value);
    }
  }
  std::ranges::sort(rare, {}, &LiteralCondition::sets);
  return rare;
}

// `members`: the number of series to select from.
Candidates find_candidates(const TagIndex& index, std::span<const TagKeyMatcher> matchers,
                           std::uint64_t members) {
  Candidates found;
  for (const auto& [condition, sets] : by_rarity(index, matchers)) {
    if (sets > found.size(members) * kCutMax) {
      found.unasked.push_back(condition);
      continue;
    }
    IdSet with;
    for (const std::uint64_t value : *condition->literals()) {
      index.add_sets(condition->key_uid(), value, with);
    }
    found.cut(std::move(with));
    if (condition->wants_match() || condition->wants_absent()) found.unasked.push_back(condition);
  }
  for (const TagKeyMatcher& condition : matchers) {
    if (condition.literals()) continue;
    // Tests each distinct value once, unless there are more values than series.
    if (!condition.wants_key() || index.values(condition.key_uid()) > found.size(members)) {
      found.unasked.push_back(&condition);
      continue;
    }
    IdSet with;
    index.add_sets_if(
        condition.key_uid(), [&condition](const SeriesTag& tag) { return condition.matches(tag); },
        with);
    found.cut(std::move(with));
  }
  return found;
}

// The sets as bits, for many lookups.
class Bits {
 public:
  explicit Bits(const IdSet& set) {
    if (set.isEmpty()) return;
    words_.resize((set.maximum() / 64) + 1);
    for (const TagSetId id : set) words_[id / 64] |= std::uint64_t{1} << id % 64;
  }
  [[nodiscard]] bool has(TagSetId id) const {
    return id / 64 < words_.size() && (words_[id / 64] >> id % 64 & 1) != 0;
  }

 private:
  std::vector<std::uint64_t> words_;
};

class Selecting {
 public:
  Selecting(const SeriesTable& table, const MembersOf& members, const TagsWanted& wanted,
            const WorkBudget* budget)
      : table_(table),
        members_(members),
        tags_exactly_(wanted.tags_exactly),
        budget_(budget),
        candidates_(find_candidates(table.tags(), wanted.matchers, members.end - members.begin)) {}

  Result<std::vector<SeriesId>> run() {
    const std::uint64_t members = members_.end - members_.begin;
    if (!candidates_.all && candidates_.sets.cardinality() * kPassesPerFind <= members) {
      TRY_VOID(find_each());
    } else {
      TRY_VOID(pass_all());
    }
    return std::move(found_);
  }

 private:
  using Member = SeriesTable::Member;

  [[nodiscard]] bool matches(const Member& member) const {
    if (!tags_exactly_ && candidates_.unasked.empty()) return true;
    const SeriesTags& tags = table_.at(member.id).tags;
    if (tags_exactly_ && tags.size() != *tags_exactly_) return false;
    return std::ranges::all_of(candidates_.unasked, [&tags](const TagKeyMatcher* condition) {
      return condition->matches(tags);
    });
  }

  Result<void> check() {
    return budget_ != nullptr && ++looked_at_ % kSeriesPerCheck == 1 ? budget_->check()
                                                                     : Result<void>();
  }

  Result<void> find_each() {
    if (candidates_.sets.isEmpty()) return {};
    std::vector<TagSetId> sets(candidates_.sets.cardinality());
    candidates_.sets.toUint32Array(sets.data());
    std::vector<Member> there = table_.of_metric(members_.metric_uid, sets);
    std::erase_if(there, [this](const Member& one) {
      return one.position < members_.begin || one.position >= members_.end;
    });
    std::ranges::sort(there, {}, &Member::position);
    for (const Member& member : there) {
      TRY_VOID(check());
      if (matches(member)) found_.push_back(member.id);
    }
    return {};
  }

  Result<void> pass_all() {
    const Bits sets(candidates_.sets);
    for (std::size_t at = members_.begin; at < members_.end;) {
      const std::size_t step = std::min(kMembersPerStep, members_.end - at);
      for (const Member& member : table_.of_metric(members_.metric_uid, at, step)) {
        TRY_VOID(check());
        if (!candidates_.all && !sets.has(member.tags)) continue;
        if (matches(member)) found_.push_back(member.id);
      }
      at += step;
    }
    return {};
  }

  const SeriesTable& table_;
  const MembersOf members_;
  const std::optional<std::size_t> tags_exactly_;
  const WorkBudget* const budget_;
  const Candidates candidates_;
  std::size_t looked_at_ = 0;
  std::vector<SeriesId> found_;
};

}  // namespace

bool TagsWanted::matches(const Series& series) const {
  if (tags_exactly && series.tags.size() != *tags_exactly) return false;
  return std::ranges::all_of(matchers, [&series](const TagKeyMatcher& condition) {
    return condition.matches(series.tags);
  });
}

Result<std::vector<SeriesId>> filter_series(const SeriesTable& table, const MembersOf& members,
                                            const TagsWanted& wanted, const WorkBudget* budget) {
  if (members.begin >= members.end) return std::vector<SeriesId>();
  return Selecting(table, members, wanted, budget).run();
}

}  // namespace halite::storage
