// GET /federate, /prometheus/federate: the newest sample of series, for another Prometheus to
// scrape.
//
// Parameters  match[]: selectors; without any, the answer is empty
// Answer      200 Prometheus' text format, sorted by metric: for each series its newest sample of
//             the last 5 minutes with its time, unless the sample ends the series. A series without
//             `instance` gets an empty one. Other characters in names than the format had before
//             UTF-8 become '_', unless Accept has escaping=allow-utf-8
// Errors      400 a selector is wrong; 408, 413 a limit of queries; 503
#include <algorithm>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/data_point.h"
#include "query/engine/engine.h"
#include "query/engine/export_run.h"
#include "query/promql/print.h"
#include "web/handlers/handlers.h"
#include "web/handlers/prometheus_request.h"
#include "web/json/error_map.h"
#include "web/json/prometheus_json.h"
#include "web/metrics.h"

namespace halite::web {

namespace asio = boost::asio;

namespace {

constexpr std::size_t kFederatedPieceBytes = 64 << 10;
constexpr std::string_view kEmptyInstance = R"(instance="")";

enum class NameForm : std::uint8_t { kUtf8, kUnderscores };

// Each character that is not plain as '_'.
std::string with_underscores(std::string_view name, bool colons) {
  std::string plain;
  for (const char c : name) {
    if ((static_cast<unsigned char>(c) & 0xC0) == 0x80) continue;  // goes on a character of UTF-8
    const bool fits =
        is_letter(c) || c == '_' || (colons && c == ':') || (is_digit(c) && !plain.empty());
    plain += fits ? c : '_';
  }
  return plain;
}

void append_quoted(std::string& to, std::string_view text) {
  to += '"';
  for (const char c : text) {
    if (c == '\n') {
      to += "\\n";
      continue;
    }
    if (c == '"' || c == '\\') to += '\\';
    to += c;
  }
  to += '"';
}

void append_name(std::string& to, std::string_view name, bool colons) {
  if (colons ? query::promql::is_plain_metric(name) : query::promql::is_plain_label(name)) {
    to += name;
  } else {
    append_quoted(to, name);
  }
}

// The newest samples, by metric and then by labels as the format writes them.
class FederatedSamples {
 public:
  struct Sample {
    TimestampMs time = 0;
    ValueBits value = 0;  // of a double
  };
  // Name, and what is between the braces.
  using Key = std::pair<std::string, std::string>;

  explicit FederatedSamples(NameForm form) : form_(form) {}

  // Returns the bytes by which these grow.
  [[nodiscard]] std::size_t add(const storage::Series& series, const storage::Block& block) {
    const std::size_t last = block.size() - 1;
    const ValueBits bits = block.values[last];
    const Sample sample{
        .time = block.times[last],
        .value = block.floats[last] ? bits : double_bits(static_cast<double>(as_integer(bits)))};
    const auto [at, added] = samples_.try_emplace(key_of(series), sample);
    if (!added && at->second.time <= sample.time) at->second = sample;
    return added ? sizeof(*at) + at->first.first.size() + at->first.second.size() : 0;
  }

  [[nodiscard]] const std::map<Key, Sample>& all() const { return samples_; }

 private:
  [[nodiscard]] std::string name_of(std::string_view name, bool colons) const {
    return form_ == NameForm::kUtf8 ? std::string(name) : with_underscores(name, colons);
  }

  [[nodiscard]] Key key_of(const storage::Series& series) const {
    std::map<std::string, std::string_view> labels;
    for (const storage::SeriesTag& tag : series.tags) {
      labels.emplace(name_of(tag.key, false), tag.value);
    }
    std::string text;
    for (const auto& [name, value] : labels) {
      append_name(text, name, false);
      text += '=';
      append_quoted(text, value);
      text += ',';
    }
    if (labels.contains("instance")) {
      text.pop_back();
    } else {
      text += kEmptyInstance;
    }
    return {name_of(series.metric.text(), true), std::move(text)};
  }

  const NameForm form_;
  std::map<Key, Sample> samples_;
};

class FederatedText final : public BodySource {
 public:
  FederatedText(std::shared_ptr<const FederatedSamples> samples,
                std::shared_ptr<const query::AnswerReservation> room)
      : samples_(std::move(samples)), room_(std::move(room)), next_(samples_->all().begin()) {}

  bool next(std::string& to) override {
    const auto end = samples_->all().end();
    if (next_ == end) return false;
    const std::size_t enough = to.size() + kFederatedPieceBytes;
    for (; next_ != end && to.size() < enough; ++next_) {
      if (next_->second.value != kStaleMarker) append_next(to);
    }
    return true;
  }

 private:
  void append_next(std::string& to) {
    const auto& [key, sample] = *next_;
    const auto& [name, labels] = key;
    if (name != family_) {
      family_ = name;
      to += "# TYPE ";
      append_name(to, name, true);
      to += " untyped\n";
    }
    if (query::promql::is_plain_metric(name)) {
      to.append(name) += '{';
    } else {
      to += '{';
      append_quoted(to, name);
      to += ',';
    }
    to.append(labels) += "} ";
    char value[kPrometheusValueBytesMax];
    to.append(value, write_prometheus_value(value, as_double(sample.value)));
    fmt::format_to(std::back_inserter(to), " {}\n", sample.time);
  }

  const std::shared_ptr<const FederatedSamples> samples_;
  const std::shared_ptr<const query::AnswerReservation> room_;  // may be null
  std::map<FederatedSamples::Key, FederatedSamples::Sample>::const_iterator next_;
  std::string family_;
};

Result<query::ExportQuestion> federate_question(const Call& call,
                                                const PrometheusParameters& parameters) {
  query::ExportQuestion question;
  TRY(question.selectors, parameters.selectors(call));
  const TimestampMs now = call.services.clock.now_ms();
  const std::int64_t lookback_ms = call.services.engine.limits().promql.lookback_ms;
  question.range = {.begin = now - lookback_ms + 1, .end = now + 1};
  return question;
}

}  // namespace

asio::awaitable<Response> handle_federate(Call& call) {
  const Result<PrometheusParameters> parameters = PrometheusParameters::of(call);
  if (!parameters) co_return error_response(call, parameters.error());
  Result<query::ExportQuestion> question = federate_question(call, *parameters);
  if (!question) co_return error_response(call, question.error());
  const bool utf8 = call.request.headers.get("Accept").contains("escaping=allow-utf-8");
  auto samples =
      std::make_shared<FederatedSamples>(utf8 ? NameForm::kUtf8 : NameForm::kUnderscores);
  std::shared_ptr<const query::AnswerReservation> room;
  if (!question->selectors.empty()) {
    QueryLog::RunningQuery logged =
        call.metrics.queries.begin(selectors_question(parameters->all("match[]"), question->range),
                                   call.request, call.services.clock, call.stop, call.trace);
    const auto run = call.services.engine.export_points(*std::move(question), logged.context());
    const query::BlockUse use = [samples, run = run.get()](const storage::Series& series,
                                                           const storage::Block& block) {
      return run->keep_bytes(static_cast<std::int64_t>(samples->add(series, block)));
    };
    auto reading = run->read_all(use);
    Result<std::shared_ptr<const query::AnswerReservation>> read = co_await std::move(reading);
    if (!read) {
      Response refusal = error_response(call, read.error());
      logged.finish(refusal.status, read.error().message, run->cost());
      co_return refusal;
    }
    logged.finish(200, "", run->cost());
    room = *std::move(read);
  }
  Response response;
  response.content_type = fmt::format("text/plain; version=0.0.4; charset=utf-8; escaping={}",
                                      utf8 ? "allow-utf-8" : "underscores");
  response.source = std::make_unique<FederatedText>(std::move(samples), std::move(room));
  co_return response;
}

}  // namespace halite::web
