// Runs tests/text/bodies/*.body: what is found in whole bodies of other protocols.
//
// A line that begins with a protocol's name asks, the indented lines under it answer; '#' comments.
// HALITE_UPDATE=1 writes the answers that the code gives: read that diff like code.
//
//   remote_write1 BODY   a WriteRequest in the form of tests/support/proto_text.h
//   remote_write2 BODY   a Request of 2.0
//
// Answers: the series and points with their part, "refused: ..", "skipped: ..", "metadata: ..", at
// the end "error: .." or what was counted. A double that is no number is bits:7FF0000000000000.
#include <cmath>
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/bytes/utf8.h"
#include "ingest/remote_write/remote_write_body.h"
#include "tests/support/proto_text.h"
#include "tests/text/answers_file.h"

namespace halite::ingest {
namespace {

std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || (!is_utf8(text) && !is_ascii({&c, 1}))) {
      out += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
    } else {
      out += c;
    }
  }
  return out;
}

std::string value_text(PointBits point) {
  if ((point.flags & kFloat) == 0) return fmt::format("{}", as_integer(point.value));
  const double value = as_double(point.value);
  if (!std::isfinite(value)) return fmt::format("bits:{:016X}", point.value);
  std::string text = fmt::format("{}", value);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

class Answers final : public PointReceiver {
 public:
  explicit Answers(const PointBody& body) : body_(body) {}

  void part(std::uint32_t number) override {
    if (number != part_ + 1) lines.push_back(fmt::format("part {} behind {}", number, part_));
    part_ = number;
  }
  void series(const SeriesKey& key) override {
    name_ = body_.series_name(key);
    if (!name_) return;
    series_ = printable(name_->metric) + '{';
    for (const Tag& tag : name_->tags) {
      if (!series_.ends_with('{')) series_ += ", ";
      series_ += fmt::format("{}={}", printable(tag.key), printable(tag.value));
    }
    series_ += '}';
  }
  void point(PointBits point) override {
    if (!name_) return refuse(name_.error().text);
    add(fmt::format("{} {} @ {}{}", series_, value_text(point), point.time,
                    (point.flags & kMillis) != 0 ? " ms" : ""));
  }
  void refuse(std::string reason) override { add("refused: " + printable(reason)); }
  void skip(std::string_view what) override { add(fmt::format("skipped: {}", what)); }
  void metadata(const MetricMetadata& about) override {
    add(fmt::format("metadata: {} is a {} in \"{}\": {}", printable(about.family), about.type,
                    about.unit, printable(about.help)));
  }

  std::vector<std::string> lines;

 private:
  void add(std::string_view line) { lines.push_back(fmt::format("{}: {}", part_, line)); }

  const PointBody& body_;
  std::uint32_t part_ = 0;
  std::expected<SeriesName, Refused> name_;
  std::string series_;
};

constexpr IngestLimits kLimits = {.tags_max = 4, .name_bytes_max = 32};

std::vector<std::string> answer(std::string_view question) {
  const std::size_t blank = std::min(question.find(' '), question.size());
  const std::string_view protocol = question.substr(0, blank);
  const Bytes bytes = test::proto_bytes(question.substr(blank));
  RemoteWriteVersion version = RemoteWriteVersion::k1;
  if (protocol == "remote_write2") {
    version = RemoteWriteVersion::k2;
  } else if (protocol != "remote_write1") {
    throw std::runtime_error(fmt::format("no such protocol: {}", protocol));
  }
  const auto body = make_remote_write_body(version, bytes, kLimits);
  Answers answers(*body);
  const auto read = body->read(answers);
  const RemoteWriteCounts& counts = body->counts();
  if (!read) {
    answers.lines.push_back("error: " + printable(read.error().message));
  } else {
    answers.lines.push_back(fmt::format("{} samples, {} histograms, {} exemplars", counts.samples,
                                        counts.histograms, counts.exemplars));
  }
  return answers.lines;
}

// The file as it should be.
std::vector<std::string> answered(const std::vector<std::string>& lines) {
  std::vector<std::string> out;
  for (const std::string& line : lines) {
    if (is_answer(line)) continue;
    out.push_back(line);
    if (line.empty() || line.starts_with('#')) continue;
    for (const std::string& text : answer(line)) out.push_back("  " + text);
  }
  return out;
}

class BodiesFile : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(BodiesFile, SaysWhatIsFoundInThem) { check_answers_file(GetParam(), answered); }

INSTANTIATE_TEST_SUITE_P(Bodies, BodiesFile, testing::ValuesIn(answers_files("bodies", ".body")),
                         [](const auto& test) { return test.param.stem().string(); });

}  // namespace
}  // namespace halite::ingest
