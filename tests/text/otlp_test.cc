// Runs tests/text/otlp/*.otlp: what Halite stores of OTLP's metrics.
//
// A question is a line; the indented lines under it answer; '#' comments. HALITE_UPDATE=1 writes
// the answers that the code gives: read that diff like code.
//
//   json BODY           a body in JSON
//   protobuf HEX        a body in protobuf
//   promote [KEY]...    attributes of resources that become tags in what follows
//   limits TAGS BYTES   ingest.tags_max and ingest.name_bytes_max of what follows
//   metric KIND|UNIT|NAME    the name of a metric. KIND: gauge, sum, counter, histogram, summary
//   label KEY                that of an attribute's key; \xHH stands for a byte
//
// Answers: those of BodyAnswers (received_text.h), whose parts are data points; "error: .." of a
// whole body.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/bytes/ascii.h"
#include "common/bytes/bytes.h"
#include "ingest/otlp/otlp_body.h"
#include "ingest/otlp/prometheus_names.h"
#include "tests/text/answers_file.h"
#include "tests/text/received_text.h"

namespace halite::ingest {
namespace {

MetricKind kind_named(std::string_view name) {
  if (name == "gauge") return MetricKind::kGauge;
  if (name == "sum") return MetricKind::kSum;
  if (name == "counter") return MetricKind::kCounter;
  if (name == "histogram") return MetricKind::kHistogram;
  if (name == "summary") return MetricKind::kSummary;
  throw std::runtime_error(fmt::format("no such kind: {}", name));
}

std::string bytes_of(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with("\\x") && i + 3 < text.size()) {
      bytes += static_cast<char>(hex_digit(text[i + 2]) * 16 + hex_digit(text[i + 3]));
      i += 3;
    } else {
      bytes += text[i];
    }
  }
  return bytes;
}

class Questions {
 public:
  std::vector<std::string> answer(const std::string& question) {
    std::string_view rest = question;
    const std::string_view word = rest.substr(0, rest.find(' '));
    rest.remove_prefix(std::min(word.size() + 1, rest.size()));
    if (word == "json") return read(OtlpEncoding::kJson, rest);
    if (word == "protobuf") {
      const auto body = from_hex(rest);
      if (!body) throw std::runtime_error("not hex: " + question);
      return read(OtlpEncoding::kProtobuf, *body);
    }
    if (word == "metric") {
      const std::size_t kind = rest.find('|');
      const std::size_t unit = rest.find('|', kind + 1);
      return named(metric_name(rest.substr(unit + 1), rest.substr(kind + 1, unit - kind - 1),
                               kind_named(rest.substr(0, kind))));
    }
    if (word == "label") return named(label_name(bytes_of(rest)));
    std::istringstream in{std::string(rest)};
    if (word == "promote") {
      options_.resource_attributes.clear();
      for (std::string key; in >> key;) options_.resource_attributes.push_back(key);
    } else if (word == "limits") {
      in >> options_.limits.tags_max >> options_.limits.name_bytes_max;
    } else {
      throw std::runtime_error("not a question: " + question);
    }
    return {};
  }

 private:
  [[nodiscard]] std::vector<std::string> read(OtlpEncoding encoding, std::string_view body) const {
    const auto request = make_otlp_body(encoding, body, options_);
    BodyAnswers answers(*request);
    if (const Result<void> read = request->read(answers); !read) {
      return {"error: " + read.error().message};
    }
    if (answers.lines.empty()) return {"nothing"};
    return answers.lines;
  }
  static std::vector<std::string> named(const std::string& name) {
    return {name.empty() ? "no name" : name};
  }

  OtlpOptions options_;
};

// The file as it should be.
std::vector<std::string> answered(const std::vector<std::string>& lines) {
  Questions questions;
  std::vector<std::string> out;
  for (const std::string& line : lines) {
    if (is_answer(line)) continue;
    out.push_back(line);
    if (line.empty() || line.starts_with('#')) continue;
    for (const std::string& answer : questions.answer(line)) out.push_back("  " + answer);
  }
  return out;
}

class OtlpFile : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(OtlpFile, SaysWhatHaliteStores) { check_answers_file(GetParam(), answered); }

INSTANTIATE_TEST_SUITE_P(Otlp, OtlpFile, testing::ValuesIn(answers_files("otlp", ".otlp")),
                         [](const auto& test) { return test.param.stem().string(); });

}  // namespace
}  // namespace halite::ingest
