#include "web/json/prometheus_json.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/utf8.h"
#include "common/json_list.h"
#include "common/json_string.h"
#include "query/promql/number_text.h"
#include "web/http/dialect.h"

namespace halite::web {

namespace promql = query::promql;

namespace {

constexpr std::size_t kListPieceBytes = 64 << 10;
constexpr std::string_view kSuccess = R"({"status":"success","data":)";

void append_notes(std::string& to, std::string_view name, const std::vector<std::string>& texts) {
  if (texts.empty()) return;
  fmt::format_to(std::back_inserter(to), R"(,"{}":)", name);
  append_json_list(to, texts, [&to](const std::string& text) { append_prometheus_text(to, text); });
}

void append_end(std::string& to, const PrometheusNotes& notes) {
  append_notes(to, "warnings", notes.warnings);
  append_notes(to, "infos", notes.infos);
  to += '}';
}

// [1435781451.781,"1"]
void append_json_sample(std::string& to, TimestampMs time, double value) {
  std::array<char, kPrometheusTimeBytesMax + kPrometheusValueBytesMax + 5> text;
  char* end = text.data();
  *end++ = '[';
  end = write_prometheus_time(end, time);
  *end++ = ',';
  *end++ = '"';
  end = write_prometheus_value(end, value);
  *end++ = '"';
  *end++ = ']';
  to.append(text.data(), end);
}

std::string_view result_type(const promql::Value& value, bool range) {
  if (range || std::holds_alternative<promql::Matrix>(value)) return "matrix";
  if (std::holds_alternative<promql::Vector>(value)) return "vector";
  return std::holds_alternative<promql::Scalar>(value) ? "scalar" : "string";
}

std::size_t count_series(const promql::Value& value, bool range) {
  if (const auto* const vector = std::get_if<promql::Vector>(&value)) return vector->rows.size();
  if (const auto* const matrix = std::get_if<promql::Matrix>(&value)) return matrix->rows.size();
  return range && std::holds_alternative<promql::Scalar>(value) ? 1 : 0;
}

void append_stats(std::string& to, const query::PromqlAnswer& answer) {
  const double total = answer.cost.wall_ms / 1000;
  const double select =
      answer.cost.stage_ms[static_cast<std::size_t>(query::Stage::kSelect)] / 1000;
  fmt::format_to(
      std::back_inserter(to),
      R"(,"stats":{{"timings":{{"evalTotalTime":{0:.6f},"resultSortTime":0,)"
      R"("queryPreparationTime":{1:.6f},"innerEvalTime":{2:.6f},"execQueueTime":0,)"
      R"("execTotalTime":{0:.6f}}},"samples":{{"totalQueryableSamples":{3},"samplesRead":{3},)"
      R"("peakSamples":{3}}}}})",
      total, select, std::max(0.0, total - select), answer.cost.points_read);
}

}  // namespace

char* write_prometheus_time(char* to, TimestampMs time) {
  auto magnitude = static_cast<std::uint64_t>(time);
  if (time < 0) {
    *to++ = '-';
    magnitude = 0 - magnitude;
  }
  const fmt::format_int seconds(magnitude / 1000);
  to = std::copy(seconds.data(), seconds.data() + seconds.size(), to);
  const auto ms = static_cast<int>(magnitude % 1000);
  if (ms == 0) return to;
  *to++ = '.';
  *to++ = static_cast<char>('0' + ms / 100);
  *to++ = static_cast<char>('0' + ms / 10 % 10);
  *to++ = static_cast<char>('0' + ms % 10);
  return to;
}

char* write_prometheus_value(char* to, double value) {
  constexpr double kShort = 1e-6;
  constexpr double kLong = 1e21;
  constexpr double kExactMax = 9007199254740992;  // 2^53: above, std::to_chars writes all digits
  if (std::isnan(value)) return std::ranges::copy(std::string_view("NaN"), to).out;
  if (std::isinf(value)) {
    return std::ranges::copy(std::string_view(value > 0 ? "+Inf" : "-Inf"), to).out;
  }
  char* const end = to + kPrometheusValueBytesMax;
  const double magnitude = std::fabs(value);
  if (magnitude != 0 && (magnitude < kShort || magnitude >= kLong)) {
    return std::to_chars(to, end, value, std::chars_format::scientific).ptr;
  }
  if (magnitude >= kExactMax) return std::ranges::copy(promql::fixed_text(value), to).out;
  return std::to_chars(to, end, value, std::chars_format::fixed).ptr;
}

void append_prometheus_text(std::string& to, std::string_view text) {
  if (is_utf8(text)) {
    append_json_string(to, text);
  } else {
    append_json_string(to, repair_utf8(text));
  }
}

void append_prometheus_labels(std::string& to, const promql::Labels& labels) {
  to += '{';
  for (const promql::Label& label : labels) {
    if (to.back() != '{') to += ',';
    append_prometheus_text(to, label.name);
    to += ':';
    append_prometheus_text(to, label.value);
  }
  to += '}';
}

Response prometheus_success(std::string_view data) {
  return text_response(200, fmt::format("{}{}}}", kSuccess, data), kPrometheusJsonType);
}

PrometheusListSource::PrometheusListSource(std::size_t size, Write write, PrometheusNotes notes)
    : size_(size), write_(std::move(write)), notes_(std::move(notes)) {}

bool PrometheusListSource::next(std::string& to) {
  if (finished_) return false;
  const std::size_t enough = to.size() + kListPieceBytes;
  if (!std::exchange(begun_, true)) to.append(kSuccess) += '[';
  while (at_ < size_ && to.size() < enough) {
    if (at_ != 0) to += ',';
    write_(to, at_++);
  }
  if (at_ < size_) return true;
  to += ']';
  append_end(to, notes_);
  finished_ = true;
  return true;
}

PromqlAnswerSource::PromqlAnswerSource(std::shared_ptr<const query::PromqlAnswer> answer,
                                       PromqlFormat format)
    : answer_(std::move(answer)),
      format_(std::move(format)),
      matrix_(format_.range || std::holds_alternative<promql::Matrix>(answer_->value)),
      series_count_(count_series(answer_->value, format_.range)) {}

bool PromqlAnswerSource::next(std::string& to) {
  if (finished_) return false;
  const std::size_t enough = to.size() + kListPieceBytes;
  if (!std::exchange(begun_, true)) begin(to);
  some_series(to, enough);
  if (series_ == series_count_) finish(to);
  return true;
}

void PromqlAnswerSource::begin(std::string& to) {
  to += kSuccess;
  fmt::format_to(std::back_inserter(to), R"({{"resultType":"{}","result":)",
                 result_type(answer_->value, format_.range));
  const TimestampMs time = answer_->steps.begin;
  if (const auto* const text = std::get_if<std::string>(&answer_->value)) {
    std::array<char, kPrometheusTimeBytesMax> seconds;
    to += '[';
    to.append(seconds.data(), write_prometheus_time(seconds.data(), time));
    to += ',';
    append_prometheus_text(to, *text);
    to += ']';
  } else if (const auto* const scalar = std::get_if<promql::Scalar>(&answer_->value);
             scalar != nullptr && !format_.range) {
    append_json_sample(to, time, scalar->values.front());
  } else {
    to += '[';
  }
}

PromqlAnswerSource::Series PromqlAnswerSource::series(std::size_t i) const {
  if (const auto* const vector = std::get_if<promql::Vector>(&answer_->value)) {
    const promql::Row& row = vector->rows[i];
    return {.labels = &row.labels, .times = nullptr, .values = &row.values};
  }
  if (const auto* const matrix = std::get_if<promql::Matrix>(&answer_->value)) {
    const promql::MatrixRow& row = matrix->rows[i];
    return {.labels = &row.labels, .times = row.times.data(), .values = &row.values};
  }
  const auto& scalar = std::get<promql::Scalar>(answer_->value);
  return {.labels = nullptr, .times = nullptr, .values = &scalar.values};
}

void PromqlAnswerSource::some_series(std::string& to, std::size_t enough) {
  while (series_ < series_count_ && to.size() < enough) {
    const Series one = series(series_);
    if (!in_series_) {
      const auto first = std::ranges::find_if(*one.values, promql::is_present);
      if (first == one.values->end()) {
        ++series_;
        continue;
      }
      if (format_.limit != 0 && shown_ == format_.limit) {
        truncated_ = true;
        series_ = series_count_;
        return;
      }
      point_ = static_cast<std::size_t>(first - one.values->begin());
      begin_series(to, one);
    }
    some_points(to, one, enough);
  }
}

void PromqlAnswerSource::begin_series(std::string& to, const Series& one) {
  if (shown_++ != 0) to += ',';
  to += R"({"metric":)";
  if (one.labels == nullptr) {
    to += "{}";
  } else {
    append_prometheus_labels(to, *one.labels);
  }
  to += matrix_ ? R"(,"values":[)" : R"(,"value":)";
  in_series_ = true;
  any_point_ = false;
}

void PromqlAnswerSource::some_points(std::string& to, const Series& one, std::size_t enough) {
  const std::vector<double>& values = *one.values;
  for (; point_ < values.size() && to.size() < enough; ++point_) {
    if (!promql::is_present(values[point_])) continue;
    if (std::exchange(any_point_, true)) to += ',';
    point(to, one, point_);
  }
  if (point_ < values.size()) return;
  to += matrix_ ? "]}" : "}";
  in_series_ = false;
  ++series_;
}

void PromqlAnswerSource::point(std::string& to, const Series& one, std::size_t i) const {
  append_json_sample(to, one.times == nullptr ? answer_->steps.at(i) : one.times[i],
                     (*one.values)[i]);
}

void PromqlAnswerSource::finish(std::string& to) {
  const bool list = format_.range || std::holds_alternative<promql::Vector>(answer_->value) ||
                    std::holds_alternative<promql::Matrix>(answer_->value);
  if (list) to += ']';
  if (format_.stats) append_stats(to, *answer_);
  to += '}';
  PrometheusNotes notes{.warnings = answer_->warnings, .infos = answer_->infos};
  if (truncated_) notes.warnings.emplace_back(kTruncatedByLimit);
  if (!format_.warning.empty()) notes.warnings.push_back(format_.warning);
  append_end(to, notes);
  finished_ = true;
}

}  // namespace halite::web
