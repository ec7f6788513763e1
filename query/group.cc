#include "query/group.h"

#include <algorithm>
#include <utility>

#include "query/notes.h"

namespace halite::query {
namespace {

// What the members' tags have in common. A key that only some members carry, with one value, is
// common too: OpenTSDB's code does so, its documentation does not.
class CommonTags {
 public:
  void add(const storage::Series& series) {
    for (const storage::SeriesTag& tag : series.tags) {
      const auto [entry, added] = tags_.try_emplace(tag.key_uid, Entry{.tag = tag});
      if (!added && entry->second.tag.value_uid != tag.value_uid) entry->second.differs = true;
    }
  }

  void tell(AnswerSeries& answer) const {
    for (const auto& [key_uid, entry] : tags_) {
      if (entry.differs) {
        answer.aggregate_tags.emplace_back(entry.tag.key);
        answer.aggregate_tag_ids.push_back(
            {.key = answer.aggregate_tags.back(), .key_uid = key_uid});
      } else {
        answer.tags.emplace(entry.tag.key, entry.tag.value);
        answer.tag_ids.push_back({.key = std::string(entry.tag.key),
                                  .key_uid = key_uid,
                                  .value_uid = entry.tag.value_uid});
      }
    }
  }

 private:
  struct Entry {
    storage::SeriesTag tag;
    bool differs = false;
  };
  std::map<std::uint64_t, Entry> tags_;  // by tag key id
};

bool by_tsuid(const GroupMember& a, const GroupMember& b) {
  return a.series->tsuid < b.series->tsuid;
}

}  // namespace

Groups::Groups(const SubQuestion& question, const SubPlan& plan)
    : plan_(&plan), each_alone_(plan.aggregator->kind == AggregatorKind::kNone) {
  if (!question.tsuids.empty()) return;
  for (const Filter& filter : question.filters) {
    if (filter.group_by) by_keys_.insert(filter.filter.key);
  }
}

Bytes Groups::key_of(const storage::Series& series) const {
  if (each_alone_) return series.tsuid;
  Bytes key;
  for (const storage::SeriesTag& tag : series.tags) {
    if (by_keys_.contains(std::string(tag.key))) append_be(key, tag.value_uid);
  }
  return key;
}

void Groups::add(std::vector<GroupMember> members) {
  std::set<Group*> changed;
  for (const GroupMember& member : members) {
    std::unique_ptr<Group>& group = groups_[key_of(*member.series)];
    if (group == nullptr) group = std::make_unique<Group>(*plan_);
    group->members.push_back(member);
    changed.insert(group.get());
  }
  for (Group* const group : changed) std::ranges::sort(group->members, by_tsuid);
}

void Groups::add_empty(const storage::Series& series) {
  std::unique_ptr<Group>& group = groups_[key_of(series)];
  if (group == nullptr) group = std::make_unique<Group>(*plan_);
}

std::vector<Group*> Groups::all() {
  std::vector<Group*> groups;
  groups.reserve(groups_.size());
  for (const auto& [key, group] : groups_) groups.push_back(group.get());
  return groups;
}

void Groups::take_notes(NotesBySeries& notes) {
  for (const auto& [key, group] : groups_) {
    for (const GroupMember& member : group->members) {
      if (auto taken = notes.extract(member.series->tsuid)) group->notes.insert(std::move(taken));
    }
  }
}

void Groups::take_notes(NotesBySeries& notes, const storage::Series& series) {
  auto taken = notes.extract(series.tsuid);
  if (taken.empty()) return;
  std::unique_ptr<Group>& group = groups_[key_of(series)];
  if (group == nullptr) group = std::make_unique<Group>(*plan_);
  group->notes.insert(std::move(taken));
}

void Groups::tell_notes(Group& group) const {
  AnswerSeries& answer = group.answer;
  answer.has_annotations = !group.notes.empty();
  for (auto& [tsuid, notes] : group.notes) {
    for (storage::Annotation& note : notes) {
      const TimestampMs time = storage::to_milliseconds(note.start_time);
      if (time < plan_->asked.begin || time >= plan_->asked.end) continue;
      answer.annotations.push_back(std::move(note));
    }
  }
  sort_notes(answer.annotations);
}

std::vector<AnswerSeries> Groups::take_answers(std::size_t query_index) {
  std::vector<AnswerSeries> answers;
  answers.reserve(groups_.size());
  for (const auto& [key, group] : groups_) {
    tell_notes(*group);
    AnswerSeries answer = std::move(group->answer);
    CommonTags tags;
    for (const GroupMember& member : group->members) {
      tags.add(*member.series);
      answer.tsuids.push_back(member.series->tsuid);
    }
    tags.tell(answer);
    answer.query_index = query_index;
    if (!group->members.empty()) answer.metric = group->members.front().series->metric;
    answers.push_back(std::move(answer));
  }
  groups_.clear();
  return answers;
}

}  // namespace halite::query
