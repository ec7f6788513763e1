// The answer of /api/query/exp as text, written in pieces.
#pragma once

#include <memory>
#include <string>

#include "query/expression/exp_run.h"
#include "web/http/http_message.h"

namespace halite::web {

class ExpAnswerSource final : public BodySource {
 public:
  // With `plain_numbers`, values that are not JSON numbers become null (Grafana cannot read "NaN").
  // `room` is the memory reservation of the answer's points; it is released with this object.
  ExpAnswerSource(std::shared_ptr<const query::ExpAnswer> answer,
                  std::shared_ptr<const query::AnswerReservation> room, bool plain_numbers);
  bool next(std::string& to) override;

 private:
  void begin_output(std::string& to) const;
  void some_rows(std::string& to);
  void end_output(std::string& to);

  std::shared_ptr<const query::ExpAnswer> answer_;
  std::shared_ptr<const query::AnswerReservation> room_;
  bool plain_numbers_;
  bool started_ = false;
  bool finished_ = false;
  bool in_output_ = false;
  std::size_t output_ = 0;
  std::size_t row_ = 0;
};

// The "query" object: the parsed query.
void append_exp_echo(std::string& to, const query::ExpQuestion& question);

}  // namespace halite::web
