// The answer of /api/query/exp as text, written piece by piece.
#pragma once

#include <memory>
#include <string>

#include "query/expression/exp_run.h"
#include "web/http_message.h"

namespace halite::web {

class ExpAnswerSource final : public BodySource {
 public:
  // With `plain_numbers` what is no JSON number is null (Grafana cannot read "NaN").
  // `room` is what the points behind it took of the memory for answers: given back with this.
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

// The "query" object: the question as it was understood.
void append_exp_echo(std::string& to, const query::ExpQuestion& question);

}  // namespace halite::web
