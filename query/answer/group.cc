#include "query/answer/group.h"

#include <algorithm>
#include <array>
#include <cstdint>
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
    by_text_.clear();
    for (const auto& [tag, differs] : entries_) {
      if (differs) {
        answer.aggregate_tags.emplace_back(tag->key);
      } else {
        by_text_.push_back(tag);
      }
    }
    if (with_ids) tell_ids(answer, differing);
    std::ranges::sort(by_text_, {}, &storage::SeriesTag::key);
    answer.tags.reserve(by_text_.size());
    for (const storage::SeriesTag* const tag : by_text_) answer.tags.emplace(tag->key, tag->value);
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

  std::vector<Entry> entries_;  // by tag key UID
  std::vector<const storage::SeriesTag*> by_text_;
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

// The first bytes of a tsuid, which order most series without a look at their scattered memory.
using TsuidPrefix = std::array<std::uint64_t, 2>;

TsuidPrefix prefix_of(const storage::Tsuid& tsuid) {
  std::array<char, sizeof(TsuidPrefix)> bytes{};
  std::size_t size = 0;
  for (const BytesView part : {tsuid.metric(), tsuid.tags()}) {
    size += part.copy(bytes.data() + size, bytes.size() - size);
  }
  return {load_be<std::uint64_t>(bytes.data()), load_be<std::uint64_t>(bytes.data() + 8)};
}

void sort_by_tsuid(std::vector<GroupMember>& members) {
  std::vector<std::pair<TsuidPrefix, GroupMember>> order;
  order.reserve(members.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    prefetch_series(members, i);
    order.emplace_back(prefix_of(members[i].series->tsuid), members[i]);
  }
  std::ranges::sort(order, [](const auto& a, const auto& b) {
    if (a.first != b.first) return a.first < b.first;
    return a.second.series->tsuid < b.second.series->tsuid;
  });
  std::ranges::transform(order, members.begin(), &std::pair<TsuidPrefix, GroupMember>::second);
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

void Groups::add(std::vector<GroupMember> members) {
  Bytes key;
  for (const GroupMember& member : members) {
    key_into(*member.series, key);
    groups_[key].members.push_back(member);
  }
  for (auto& [grouped_by, group] : groups_) {
    const std::size_t size = group.members.size();
    if (size != std::exchange(group.sorted, size) && size > 1) sort_by_tsuid(group.members);
  }
}

void Groups::add_empty(const storage::Series& series) { groups_.try_emplace(key_of(series)); }

void Groups::add_behind(const storage::Series& series) {
  const auto group = groups_.find(key_of(series));
  if (group != groups_.end()) group->second.behind.push_back(&series);
}

std::vector<Group*> Groups::all() {
  std::vector<Group*> groups;
  groups.reserve(groups_.size());
  for (auto& [key, group] : groups_) groups.push_back(&group);
  return groups;
}

void Groups::take_annotations(AnnotationsBySeries& notes) {
  if (notes.empty()) return;
  for (auto& [key, group] : groups_) {
    for (const GroupMember& member : group.members) {
      if (auto taken = notes.extract(member.series->tsuid)) group.notes.insert(std::move(taken));
    }
  }
}

void Groups::take_annotations(AnnotationsBySeries& notes, const storage::Series& series) {
  auto taken = notes.extract(series.tsuid);
  if (taken.empty()) return;
  groups_[key_of(series)].notes.insert(std::move(taken));
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
  for (auto& [key, group] : groups_) {
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
  groups_.clear();
  return answers;
}

}  // namespace halite::query
