// The answer to a query, and what it cost.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/clock.h"
#include "common/data_point.h"
#include "query/question.h"
#include "query/tag_texts.h"
#include "storage/api/read_context.h"
#include "storage/meta/objects/annotation.h"

namespace halite::query {

// A tag with its ids.
struct TagIds {
  std::string key;
  std::uint64_t key_uid = 0;
  std::uint64_t value_uid = 0;  // 0 for a key alone
};

// One output series. Values are integers or doubles point by point.
struct AnswerSeries {
  std::size_t query_index = 0;              // into Question::queries, without duplicates
  std::string metric;                       // empty: no series has a point, only annotations
  TagTexts tags;                            // common to all members
  std::vector<std::string> aggregate_tags;  // in tagk uid order
  std::vector<TagIds> tag_ids;              // of `tags`, by key uid; with Question::with_ids
  std::vector<TagIds> aggregate_tag_ids;    // of `aggregate_tags`, keys alone; likewise
  std::vector<Bytes> tsuids;                // sorted; with Question::with_ids or show_tsuids
  std::vector<TimestampMs> times;           // ascending, in the query's time range
  std::vector<ValueBits> values;
  std::vector<bool> floats;  // values[i] is a double; NaN is possible
  // In the hours read. `annotations` omits those outside the time range.
  bool has_annotations = false;
  std::vector<storage::Annotation> annotations;  // in display order
};

// Where a query spends its time.
enum class Stage : std::uint8_t {
  kSelect,       // names and filters to series
  kRead,         // points of series, with downsampling and rates
  kMerge,        // series into groups
  kAnnotations,  // annotations
};
inline constexpr std::size_t kStages = 4;

struct QueryCost {
  std::uint64_t series = 0;
  std::uint64_t points_read = 0;
  std::uint64_t blocks_read = 0;
  std::uint64_t points_out = 0;
  storage::ReadWork work = {};  // as far as the store reports it
  double wall_ms = 0;
  std::array<double, kStages> stage_ms = {};  // by Stage
};

class AnswerReservation;  // query/answer/answer_memory.h

struct Answer {
  Question question;                                    // as run, without duplicate sub-queries
  std::vector<AnswerSeries> series;                     // in OpenTSDB's order
  std::vector<storage::Annotation> global_annotations;  // if asked for, shown with each series
  QueryCost cost;
  std::shared_ptr<const AnswerReservation> room = nullptr;  // its part of query.answers_bytes_max
};

}  // namespace halite::query
