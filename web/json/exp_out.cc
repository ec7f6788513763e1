#include "web/json/exp_out.h"

#include <cmath>
#include <iterator>
#include <ranges>

#include <fmt/format.h>

#include "common/java/java_double.h"
#include "common/json_list.h"
#include "common/json_string.h"

namespace halite::web {

namespace {

constexpr std::size_t kExpPieceBytes = 64 << 10;

void append_number(std::string& to, double value, bool plain_numbers) {
  if (std::isfinite(value)) {
    append_java_double(to, value);
  } else if (plain_numbers) {
    to += "null";
  } else {
    to += std::isnan(value) ? "\"NaN\"" : value > 0 ? "\"Infinity\"" : "\"-Infinity\"";
  }
}

void append_meta(std::string& to, const query::ExpTable& table) {
  // OpenTSDB resolves only the first column's metrics, and returns them for all.
  std::string metrics;
  append_json_texts(metrics, std::views::keys(table.columns.front().metrics));
  to += ",\"meta\":[{\"index\":0,\"metrics\":[\"timestamp\"]}";
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    fmt::format_to(std::back_inserter(to), ",{{\"index\":{},\"metrics\":{},\"commonTags\":{{",
                   i + 1, metrics);
    for (const auto& [key_uid, tag] : table.columns[i].tags) {
      if (to.back() != '{') to += ',';
      append_json_string(to, tag.key);
      to += ':';
      append_json_string(to, tag.value);
    }
    to += "},\"aggregatedTags\":";
    append_json_texts(to, std::views::values(table.columns[i].aggregate_tags));
    to += '}';
  }
  to += ']';
}

}  // namespace

ExpAnswerSource::ExpAnswerSource(std::shared_ptr<const query::ExpAnswer> answer,
                                 std::shared_ptr<const query::AnswerReservation> room,
                                 bool plain_numbers)
    : answer_(std::move(answer)), room_(std::move(room)), plain_numbers_(plain_numbers) {}

bool ExpAnswerSource::next(std::string& to) {
  if (finished_) return false;
  const std::size_t enough = to.size() + kExpPieceBytes;
  if (!started_) {
    to += "{\"outputs\":[";
    started_ = true;
  }
  while (output_ < answer_->outputs.size() && to.size() < enough) {
    if (!in_output_) begin_output(to);
    in_output_ = true;
    some_rows(to);
    if (row_ == answer_->outputs[output_].times.size()) end_output(to);
  }
  if (output_ == answer_->outputs.size()) {
    to += "],\"query\":";
    append_exp_echo(to, answer_->question);
    to += '}';
    finished_ = true;
  }
  return true;
}

void ExpAnswerSource::begin_output(std::string& to) const {
  const query::ExpTable& table = answer_->outputs[output_];
  if (output_ != 0) to += ',';
  to += "{\"id\":";
  append_json_string(to, table.id);
  if (!table.alias.empty()) {
    to += ",\"alias\":";
    append_json_string(to, table.alias);
  }
  to += ",\"dps\":[";
}

void ExpAnswerSource::some_rows(std::string& to) {
  const query::ExpTable& table = answer_->outputs[output_];
  const std::size_t enough = to.size() + kExpPieceBytes;
  for (; row_ < table.times.size() && to.size() < enough; ++row_) {
    if (row_ != 0) to += ',';
    fmt::format_to(std::back_inserter(to), "[{}", table.times[row_]);
    for (const std::vector<double>& column : table.values) {
      to += ',';
      append_number(to, column[row_], plain_numbers_);
    }
    to += ']';
  }
}

void ExpAnswerSource::end_output(std::string& to) {
  const query::ExpTable& table = answer_->outputs[output_];
  fmt::format_to(std::back_inserter(to),
                 "],\"dpsMeta\":{{\"firstTimestamp\":{},\"lastTimestamp\":{},\"setCount\":{},"
                 "\"series\":{}}}",
                 table.first_time, table.last_time, table.times.size(), table.columns.size());
  if (!table.columns.empty()) append_meta(to, table);
  to += '}';
  in_output_ = false;
  row_ = 0;
  ++output_;
}

}  // namespace halite::web
