// Runs tests/text/bodies/*.body: what is found in whole bodies of other protocols.
//
// A line that begins with a protocol's name asks, the indented lines under it answer; '#' comments.
// HALITE_UPDATE=1 writes the answers that the code gives: read that diff like code.
//
//   remote_write1 BODY   a WriteRequest in the form of tests/support/proto_text.h
//   remote_write2 BODY   a Request of 2.0
//
// Answers: those of BodyAnswers (received_text.h), at the end "error: .." or what was counted.
#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ingest/remote_write/remote_write_body.h"
#include "tests/support/proto_text.h"
#include "tests/text/answers_file.h"
#include "tests/text/received_text.h"

namespace halite::ingest {
namespace {

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
  BodyAnswers answers(*body);
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
