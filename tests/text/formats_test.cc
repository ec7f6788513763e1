// Runs tests/text/formats/*.points: what the parsers of text formats find in lines.
//
// A line that begins with "> " is input. The indented lines under it answer; '#' comments.
// HALITE_UPDATE=1 writes the answers that the code gives: read that diff like code.
//
//   format NAME [OPTION VALUE]...   begins a stream. Options: precision, separator, value-field,
//                                   default-time (ms), tags-max, name-bytes-max
//   > LINE                          a line of it; \r \t \0 \xHH stand for bytes, \\ for a backslash
//   end                             the end of the stream
//   detect                          the format of all lines since "format"
//
// Answers: the series and points, "refused: ..", "skipped: ..". Integers have no point; a double
// that is no number is bits:7FF0000000000000.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/bytes/ascii.h"
#include "ingest/formats/point_format.h"
#include "tests/text/answers_file.h"
#include "tests/text/received_text.h"

namespace halite::ingest {
namespace {

// The bytes that an input line stands for.
std::string bytes_of(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      bytes += text[i];
      continue;
    }
    const char kind = text[++i];
    if (kind == 'r') {
      bytes += '\r';
    } else if (kind == 't') {
      bytes += '\t';
    } else if (kind == '0') {
      bytes += '\0';
    } else if (kind == 'x' && i + 2 < text.size()) {
      bytes += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else if (kind == '\\') {
      bytes += '\\';
    } else {
      bytes += '\\';
      bytes += kind;
    }
  }
  return bytes;
}

class Answers final : public PointReceiver {
 public:
  explicit Answers(const PointParser& parser) : parser_(parser) {}

  void series(const SeriesKey& key) override {
    const auto name = parser_.series_name(key);
    known_ = name.has_value();
    if (!known_) {
      lines.push_back("refused: " + printable(name.error().text));
      return;
    }
    series_ = series_text(*name);
  }
  void point(PointBits point) override {
    if (known_) lines.push_back(series_ + ' ' + point_text(point));
  }
  void refuse(std::string reason) override { lines.push_back("refused: " + printable(reason)); }
  void skip(std::string_view what) override { lines.push_back(fmt::format("skipped: {}", what)); }

  std::vector<std::string> lines;

 private:
  const PointParser& parser_;
  bool known_ = false;
  std::string series_;
};

struct Stream {
  explicit Stream(const std::string& words) {
    std::istringstream in(words);
    std::string word;
    std::string value;
    in >> word >> word;
    const auto named = format_named(word);
    if (!named) throw std::runtime_error("no such format: " + word);
    FormatOptions options;
    IngestLimits limits;
    while (in >> word >> value) {
      if (word == "precision") {
        options.influx_precision = time_unit_named(value).value();
      } else if (word == "separator") {
        options.influx_separator = value;
      } else if (word == "value-field") {
        options.influx_value_field = value == "none" ? "" : value;
      } else if (word == "default-time") {
        options.default_time = std::stoll(value);
      } else if (word == "tags-max") {
        limits.tags_max = std::stoul(value);
      } else if (word == "name-bytes-max") {
        limits.name_bytes_max = std::stoul(value);
      } else {
        throw std::runtime_error("no such option: " + word);
      }
    }
    rules = std::make_unique<PointRules>(limits, "");
    parser = make_parser(*named, options, *rules);
  }

  std::vector<std::string> answer(std::string_view question) {
    Answers answers(*parser);
    if (question.starts_with("> ") || question == ">") {
      const std::string line = bytes_of(question.substr(std::min<std::size_t>(2, question.size())));
      text += line + '\n';
      parser->line(line, answers);
      if (answers.lines.empty()) answers.lines.emplace_back("nothing");
    } else if (question == "end") {
      parser->end(answers);
      if (answers.lines.empty()) answers.lines.emplace_back("ends well");
    } else if (question == "detect") {
      const auto found = detect_format(text);
      answers.lines.emplace_back(found ? format_name(*found) : "unsure");
    } else {
      throw std::runtime_error(fmt::format("not a question: {}", question));
    }
    return answers.lines;
  }

  std::unique_ptr<PointRules> rules;
  std::unique_ptr<PointParser> parser;
  std::string text;
};

// The file as it should be.
std::vector<std::string> answered(const std::vector<std::string>& lines) {
  std::unique_ptr<Stream> stream;
  std::vector<std::string> out;
  for (const std::string& line : lines) {
    if (is_answer(line)) continue;
    out.push_back(line);
    if (line.empty() || line.starts_with('#')) continue;
    if (line.starts_with("format ")) {
      stream = std::make_unique<Stream>(line);
      continue;
    }
    if (!stream) throw std::runtime_error("a question before the first format");
    for (const std::string& answer : stream->answer(line)) out.push_back("  " + answer);
  }
  return out;
}

class PointsFile : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(PointsFile, SaysWhatTheParsersFind) { check_answers_file(GetParam(), answered); }

INSTANTIATE_TEST_SUITE_P(Points, PointsFile, testing::ValuesIn(answers_files("formats", ".points")),
                         [](const auto& test) { return test.param.stem().string(); });

}  // namespace
}  // namespace halite::ingest
