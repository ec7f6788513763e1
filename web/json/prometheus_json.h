// Answers of Prometheus' HTTP API:
//
//   {"status":"success","data":..,"warnings":["..",..],"infos":["..",..]}
//
// The last two only if there are any. Times are seconds: 1435781451.781. Values are texts: "0.25",
// "1e-07", "NaN", "+Inf". Bytes that are not UTF-8 become U+FFFD.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "query/engine/promql.h"
#include "query/promql/eval/labels.h"
#include "query/promql/eval/values.h"
#include "web/http/http_message.h"

namespace halite::web {

inline constexpr std::string_view kTruncatedByLimit = "results truncated due to limit";

// A number of seconds, with three decimals if they are not 0. Writes at most
// kPrometheusTimeBytesMax bytes; returns the end.
inline constexpr std::size_t kPrometheusTimeBytesMax = 24;
char* write_prometheus_time(char* to, TimestampMs time);

// The shortest text that reads back as an equal double, as Go writes it: with an exponent below
// 1e-6 and from 1e21. Writes at most kPrometheusValueBytesMax bytes, without quotes.
inline constexpr std::size_t kPrometheusValueBytesMax = 32;
char* write_prometheus_value(char* to, double value);

void append_prometheus_text(std::string& to, std::string_view text);  // in quotes
void append_prometheus_labels(std::string& to, const query::promql::Labels& labels);

// 200 with these data, which are JSON.
[[nodiscard]] Response prometheus_success(std::string_view data);

struct PrometheusNotes {
  std::vector<std::string> warnings;
  std::vector<std::string> infos;
};

// A list as data, in pieces: write(to, i) appends the i-th item as JSON.
class PrometheusListSource final : public BodySource {
 public:
  using Write = std::function<void(std::string& to, std::size_t i)>;
  PrometheusListSource(std::size_t size, Write write, PrometheusNotes notes);
  bool next(std::string& to) override;

 private:
  const std::size_t size_;
  const Write write_;
  const PrometheusNotes notes_;
  std::size_t at_ = 0;
  bool begun_ = false;
  bool finished_ = false;
};

struct PromqlFormat {
  bool range = false;     // of query_range: always a matrix
  std::size_t limit = 0;  // of series; 0: none
  bool stats = false;     // with data.stats
  std::string warning;    // one more; empty: none
};

// The result of a query, in pieces.
class PromqlAnswerSource final : public BodySource {
 public:
  PromqlAnswerSource(std::shared_ptr<const query::PromqlAnswer> answer, PromqlFormat format);
  bool next(std::string& to) override;

 private:
  // A series of the result, with or without points.
  struct Series {
    const query::promql::Labels* labels = nullptr;  // null: none
    const TimestampMs* times = nullptr;             // null: those of the steps
    const std::vector<double>* values = nullptr;
  };
  [[nodiscard]] Series series(std::size_t i) const;
  void begin(std::string& to);
  void some_series(std::string& to, std::size_t enough);
  void begin_series(std::string& to, const Series& one);
  void some_points(std::string& to, const Series& one, std::size_t enough);
  void point(std::string& to, const Series& one, std::size_t i) const;
  void finish(std::string& to);

  const std::shared_ptr<const query::PromqlAnswer> answer_;
  const PromqlFormat format_;
  const bool matrix_;             // series have "values", otherwise one "value"
  std::size_t series_count_ = 0;  // in the answer; 0: a scalar or a text, which begin() writes
  std::size_t series_ = 0;        // the next one
  std::size_t shown_ = 0;         // with points
  std::size_t point_ = 0;         // the next one of a series that has begun
  bool begun_ = false;
  bool in_series_ = false;
  bool any_point_ = false;
  bool truncated_ = false;
  bool finished_ = false;
};

}  // namespace halite::web
