// Puts series into groups. The order is OpenTSDB's for any number of shards: groups by the UIDs of
// their common values, members by TSUID.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <boost/container/deque.hpp>
#include <boost/container/small_vector.hpp>
#include <boost/unordered/unordered_flat_map.hpp>

#include "common/bytes/bytes.h"
#include "query/answer.h"
#include "query/operators/merge.h"
#include "query/plan/plan.h"
#include "storage/api/point_store.h"
#include "storage/meta/objects/annotation.h"

namespace halite::query {

// By TSUID.
using AnnotationsBySeries = std::map<Bytes, std::vector<storage::Annotation>>;

// Sorts into display order: by start times as stored (seconds before milliseconds). Equal times
// keep their order.
void sort_annotations(std::vector<storage::Annotation>& notes);

// Many groups have one member.
using GroupMembers = boost::container::small_vector<GroupMember, 1>;

struct Group {
  GroupMembers members;  // by TSUID
  // The series of the members, if those are groups of a view. The answer has their tags.
  std::vector<const storage::Series*> behind;
  std::size_t sorted = 0;  // of the members, before new ones are sorted in
  AnswerSeries answer;
  AnnotationsBySeries notes;
};

// A group is as large as a deque's default block.
using GroupBlocks = boost::container::deque_options_t<boost::container::block_size<16>>;

class Groups {
 public:
  Groups(const SubQuestion& question, const SubPlan& plan);

  // Adds new series. The members stay in place while the groups live.
  void add(std::vector<GroupMember> members);

  // Adds a series that has rows but no points. As in OpenTSDB, a group of only such series has
  // neither metric nor tags in the answer.
  void add_empty(const storage::Series& series);

  // Adds a series to Group::behind of its group, if there is one.
  void add_behind(const storage::Series& series);

  // In order. Valid until the next series without a group.
  [[nodiscard]] const std::vector<Group*>& all();

  // Moves the annotations of members, or of one series, into the groups. The series may have no
  // group yet.
  void take_annotations(AnnotationsBySeries& notes);
  void take_annotations(AnnotationsBySeries& notes, const storage::Series& series);

  // Returns the output series in order, with metric, tags and TSUIDs, and empties the groups.
  [[nodiscard]] std::vector<AnswerSeries> take_answers(std::size_t query_index);

  // Series with equal keys form a group.
  [[nodiscard]] Bytes key_of(const storage::Series& series) const;

 private:
  [[nodiscard]] bool groups_by(std::string_view key) const;
  void key_into(const storage::Series& series, Bytes& key) const;
  Group& group_of(const Bytes& key);
  void add_annotations(Group& group) const;

  const SubPlan* plan_;
  bool each_alone_;                   // aggregator `none`: one group for each series
  std::vector<std::string> by_keys_;  // tag keys grouped by
  boost::container::deque<Group, void, GroupBlocks> groups_;
  boost::unordered_flat_map<Bytes, Group*> by_key_;
  std::vector<Group*> order_;  // by key; not all groups while it is shorter than groups_
};

}  // namespace halite::query
