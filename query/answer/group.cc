#include "query/answer/group.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>

namespace halite::query {
namespace {

// The common tags of the members. A key that only some members have is common if it has one value:
// OpenTSDB's code does this, its documentation does not. Reusable for one group after another.
class CommonTags {
 public:
  void clear() { entries_.clear(); }

  void add(const storage::Series& series) {
    // Members mostly have equal keys, always in the order of their UIDs.
    std::size_t at = 0;
    for (const storage::SeriesTag& tag : series.tags) {
      while (at < entries_.size() && entries_[at].tag->key_uid < tag.key_uid) ++at;
      if (at == entries_.size() || entries_[at].tag->key_uid != tag.key_uid) {
        entries_.insert(entries_.begin() + static_cast<std::ptrdiff_t>(at), Entry{.tag = &tag});
      } else if (entries_[at].tag->value_uid != tag.value_uid) {
        entries_[at].differs = true;
      }
      ++at;
    }
  }

  void tell(AnswerSeries& answer, bool with_ids) {
    const auto differing =
        static_cast<std::size_t>(std::ranges::count(entries_, true, &Entry::differs));
    answer.aggregate_tags.reserve(differing);
    common_.clear();
    for (const auto& [tag, differs] : entries_) {
      if (differs) {
        answer.aggregate_tags.emplace_back(tag->key);
      } else {
        common_.push_back(tag);
      }
    }
    if (with_ids) tell_ids(answer, differing);
    sort_by_text();
    std::size_t bytes = 0;
    for (const storage::SeriesTag* const tag : common_) {
      bytes += TagTexts::bytes_of(tag->key, tag->value);
    }
    answer.tags.reserve(bytes);
    for (const std::size_t i : order_) answer.tags.emplace(common_[i]->key, common_[i]->value);
  }

 private:
  struct Entry {
    const storage::SeriesTag* tag = nullptr;  // of the first member with this key
    bool differs = false;
  };

  void tell_ids(AnswerSeries& answer, std::size_t differing) const {
    answer.tag_ids.reserve(entries_.size() - differing);
    answer.aggregate_tag_ids.reserve(differing);
    for (const auto& [tag, differs] : entries_) {
      if (differs) {
        answer.aggregate_tag_ids.push_back({.key = std::string(tag->key), .key_uid = tag->key_uid});
      } else {
        answer.tag_ids.push_back(
            {.key = std::string(tag->key), .key_uid = tag->key_uid, .value_uid = tag->value_uid});
      }
    }
  }

  // Sets order_. Groups mostly have the keys of the group before, and then its order. If a key was
  // renamed meanwhile, TagTexts inserts it in its place.
  void sort_by_text() {
    if (std::ranges::equal(common_, sorted_keys_, {}, &storage::SeriesTag::key_uid)) return;
    sorted_keys_.clear();
    order_.clear();
    for (const storage::SeriesTag* const tag : common_) {
      sorted_keys_.push_back(tag->key_uid);
      order_.push_back(order_.size());
    }
    std::ranges::sort(order_, {}, [this](std::size_t i) { return common_[i]->key; });
  }

  std::vector<Entry> entries_;                     // by tag key UID
  std::vector<const storage::SeriesTag*> common_;  // the tags that do not differ, by key UID
  std::vector<std::uint64_t> sorted_keys_;         // the key UIDs that order_ sorts
  std::vector<std::size_t> order_;                 // indexes of common_, by key
};

// Series, tag sets and tags are scattered in memory: prefetches those of the members after `i`.
void prefetch_series(std::span<const GroupMember> members, std::size_t i) {
  constexpr std::size_t kAhead = 8;
  if (i + 2 * kAhead < members.size()) __builtin_prefetch(members[i + 2 * kAhead].series);
  if (i + kAhead < members.size()) {
    __builtin_prefetch(&members[i + kAhead].series->tags.set());
  }
}

void prefetch_tags(std::span<const GroupMember> members, std::size_t i) {
  constexpr std::size_t kAhead = 4;
  prefetch_series(members, i);
  if (i + kAhead >= members.size()) return;
  const storage::TagSet& set = members[i + kAhead].series->tags.set();
  for (std::uint32_t tag = 0; tag < set.size(); ++tag) __builtin_prefetch(set.tags()[tag]);
}

// The first bytes of a tsuid or key, which order most without a look at their scattered memory.
using Prefix = std::array<std::uint64_t, 2>;

Prefix prefix_of(std::initializer_list<BytesView> parts) {
  std::array<char, sizeof(Prefix)> bytes{};
  std::size_t size = 0;
  for (const BytesView part : parts) {
    size += part.copy(bytes.data() + size, bytes.size() - size);
  }
  return {load_be<std::uint64_t>(bytes.data()), load_be<std::uint64_t>(bytes.data() + 8)};
}

void sort_by_tsuid(GroupMembers& members) {
  std::vector<std::pair<Prefix, GroupMember>> order;
  order.reserve(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    prefetch_series(members, i);
    const storage::Tsuid& tsuid = members[i].series->tsuid;
    order.emplace_back(prefix_of({tsuid.metric(), tsuid.tags()}), members[i]);
  }
  std::ranges::sort(order, [](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    return a.second.series->tsuid < b.second.series->tsuid;
  });
  std::ranges::transform(order, members.begin(), &std::pair<Prefix, GroupMember>::second);
}

}  // namespace

void sort_annotations(std::vector<storage::Annotation>& notes) {
  std::vector<std::pair<std::int64_t, std::size_t>> order;
  for (const storage::Annotation& note : notes) order.emplace_back(note.start_time, order.size());
  std::ranges::sort(order);
  std::vector<storage::Annotation> sorted;
  sorted.reserve(notes.size());
  for (const auto& [time, at] : order) sorted.push_back(std::move(notes[at]));
  notes = std::move(sorted);
}

Groups::Groups(const SubQuestion& question, const SubPlan& plan)
    : plan_(&plan), each_alone_(plan.aggregator->kind == AggregatorKind::kNone) {
  if (!question.tsuids.empty()) return;
  for (const Filter& filter : question.filters) {
    if (filter.group_by && !groups_by(filter.filter.key)) by_keys_.push_back(filter.filter.key);
  }
}

bool Groups::groups_by(std::string_view key) const {
  return std::ranges::find(by_keys_, key) != by_keys_.end();
}

void Groups::key_into(const storage::Series& series, Bytes& key) const {
  key.clear();
  if (each_alone_) {
    series.tsuid.append_to(key);
    return;
  }
  if (by_keys_.empty()) return;
  for (const storage::SeriesTag& tag : series.tags) {
    if (groups_by(tag.key)) append_be(key, tag.value_uid);
  }
}

Bytes Groups::key_of(const storage::Series& series) const {
  Bytes key;
  key_into(series, key);
  return key;
}

Group& Groups::group_of(const Bytes& key) {
  const auto [known, is_new] = by_key_.try_emplace(key);
  if (is_new) known->second = &groups_.emplace_back();
  return *known->second;
}

void Groups::add(std::vector<GroupMember> members) {
  Bytes key;
  for (std::size_t i = 0; i < members.size(); ++i) {
    prefetch_tags(members, i);
    key_into(*members[i].series, key);
    group_of(key).members.push_back(members[i]);
  }
  for (Group& group : groups_) {
    const std::size_t size = group.members.size();
    if (size != std::exchange(group.sorted, size) && size > 1) sort_by_tsuid(group.members);
  }
}

void Groups::add_empty(const storage::Series& series) { group_of(key_of(series)); }

void Groups::add_behind(const storage::Series& series) {
  const auto group = by_key_.find(key_of(series));
  if (group != by_key_.end()) group->second->behind.push_back(&series);
}

const std::vector<Group*>& Groups::all() {
  if (order_.size() == groups_.size()) return order_;
  using Keyed = std::pair<const Bytes, Group*>;
  std::vector<std::pair<Prefix, const Keyed*>> order;
  order.reserve(by_key_.size());
  for (const Keyed& keyed : by_key_) order.emplace_back(prefix_of({keyed.first}), &keyed);
  std::ranges::sort(order, [](const auto& a, const auto& b) {
    return a.first != b.first ? a.first < b.first : a.second->first < b.second->first;
  });
  order_.clear();
  order_.reserve(order.size());
  for (const auto& [prefix, keyed] : order) order_.push_back(keyed->second);
  return order_;
}

void Groups::take_annotations(AnnotationsBySeries& notes) {
  if (notes.empty()) return;
  for (Group& group : groups_) {
    for (const GroupMember& member : group.members) {
      if (auto taken = notes.extract(member.series->tsuid)) group.notes.insert(std::move(taken));
    }
  }
}

void Groups::take_annotations(AnnotationsBySeries& notes, const storage::Series& series) {
  auto taken = notes.extract(series.tsuid);
  if (taken.empty()) return;
  group_of(key_of(series)).notes.insert(std::move(taken));
}

void Groups::add_annotations(Group& group) const {
  AnswerSeries& answer = group.answer;
  answer.has_annotations = !group.notes.empty();
  for (auto& [tsuid, notes] : group.notes) {
    for (storage::Annotation& note : notes) {
      const TimestampMs time = storage::to_milliseconds(note.start_time);
      if (time < plan_->asked.begin || time >= plan_->asked.end) continue;
      answer.annotations.push_back(std::move(note));
    }
  }
  sort_annotations(answer.annotations);
}

std::vector<AnswerSeries> Groups::take_answers(std::size_t query_index) {
  std::vector<AnswerSeries> answers;
  answers.reserve(groups_.size());
  CommonTags tags;
  for (Group* const one : all()) {
    Group& group = *one;
    add_annotations(group);
    AnswerSeries& answer = answers.emplace_back(std::move(group.answer));
    tags.clear();
    if (plan_->with_tsuids) answer.tsuids.reserve(group.members.size());
    for (std::size_t i = 0; i < group.members.size(); ++i) {
      prefetch_tags(group.members, i);
      const storage::Series& series = *group.members[i].series;
      if (group.behind.empty()) tags.add(series);
      if (plan_->with_tsuids) answer.tsuids.emplace_back(series.tsuid);
    }
    for (const storage::Series* const series : group.behind) tags.add(*series);
    tags.tell(answer, plan_->with_tag_ids);
    answer.query_index = query_index;
    if (!group.members.empty()) answer.metric = group.members.front().series->metric;
  }
  order_.clear();
  by_key_.clear();
  groups_.clear();
  return answers;
}

}  // namespace halite::query
