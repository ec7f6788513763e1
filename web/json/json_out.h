// The answer of /api/query as text, written in pieces from the points.
//
// Fields and their order are OpenTSDB's: metric, tags, aggregateTags, query, tsuids, annotations,
// globalAnnotations, dps, stats. Times are in seconds unless the query asks for milliseconds.
// Integers are digits; doubles have Java's format; NaN is "NaN" in quotes, or null if the fill
// policy is null.
#pragma once

#include <memory>
#include <string>

#include "query/answer.h"
#include "web/http/http_message.h"
#include "web/json/time_text.h"

namespace halite::web {

struct AnswerFormat {
  bool plain_numbers = false;  // omit values that are not JSON numbers (Grafana cannot read them)
  bool globals_once = false;   // globalAnnotations in the first series only
};

class AnswerSource final : public BodySource {
 public:
  AnswerSource(std::shared_ptr<const query::Answer> answer, AnswerFormat format);
  bool next(std::string& to) override;

 private:
  void begin_series(std::string& to);
  void some_points(std::string& to);
  void end_series(std::string& to);
  void point(std::string& to, const query::AnswerSeries& series, std::size_t i);
  char* write_value(char* to, const query::AnswerSeries& series, std::size_t i) const;

  std::shared_ptr<const query::Answer> answer_;
  AnswerFormat format_;
  bool started_ = false;
  bool finished_ = false;
  bool in_series_ = false;
  bool any_point_ = false;  // a point of this series was written
  std::size_t series_ = 0;
  std::size_t point_ = 0;
  TimeText times_;
};

// A member that says how exact an answer from sketches is: ,"accuracy":"approximate, 1 %".
void append_accuracy(std::string& to);

// The "query" object of showQuery.
void append_query_echo(std::string& to, const query::SubQuestion& sub, std::size_t index);

}  // namespace halite::web
