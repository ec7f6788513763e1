// Runs tests/text/trace/*.trace: how the headers traceparent and tracestate are read.
//
// A line in the first column asks, the indented line under it answers; '#' comments. ¶ stands for a
// tab; what is asked ends with the line, also if that is a blank.
//
//   parent HEADER       the ids and the flags that are kept, or "absent"
//   state HEADER        "passed on" or "dropped"
//   keys COUNT          a tracestate with so many keys
//   bytes COUNT         a tracestate of so many bytes
#include <charconv>
#include <filesystem>
#include <string>
#include <string_view>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "common/tracing/trace_context.h"
#include "tests/text/answers_file.h"

namespace halite {
namespace {

std::string parent(std::string_view header) {
  const auto context = parse_traceparent(header);
  if (!context) return "absent";
  return fmt::format("trace {} span {} flags {}{}", id_text(context->trace_id),
                     id_text(context->span_id), context->flags,
                     context->sampled() ? ", sampled" : "");
}

std::string state(std::string_view header) {
  return is_tracestate(header) ? "passed on" : "dropped";
}

std::string with_tabs(std::string_view text) {
  constexpr std::string_view kTab = "¶";
  std::string plain(text);
  for (std::size_t at = plain.find(kTab); at != std::string::npos; at = plain.find(kTab)) {
    plain.replace(at, kTab.size(), "\t");
  }
  return plain;
}

std::size_t count(std::string_view text) {
  std::size_t number = 0;
  const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
  EXPECT_EQ(read.ptr, text.data() + text.size()) << text;
  return number;
}

std::string keys(std::size_t count) {
  std::string list;
  for (std::size_t i = 0; i < count; ++i) list += fmt::format("{}k{}=v", i == 0 ? "" : ",", i);
  return state(list);
}

// Of two members, because a value has a limit of its own.
std::string bytes(std::size_t count) {
  constexpr std::size_t kFirst = 256;
  const std::string list = "a=" + std::string(kFirst, 'v') + ",b=";
  return state(list + std::string(count - list.size(), 'v'));
}

std::string answer(std::string_view question) {
  const std::size_t blank = std::min(question.find(' '), question.size());
  const std::string_view what = question.substr(0, blank);
  const std::string rest = with_tabs(question.substr(std::min(blank + 1, question.size())));
  if (what == "parent") return parent(rest);
  if (what == "state") return state(rest);
  if (what == "keys") return keys(count(rest));
  if (what == "bytes") return bytes(count(rest));
  return "no such question";
}

Lines answered(const Lines& lines) {
  Lines all;
  for (const std::string& line : lines) {
    if (is_answer(line)) continue;
    all.push_back(line);
    if (!line.empty() && !line.starts_with('#')) all.push_back("  " + answer(line));
  }
  return all;
}

TEST(Trace, headers) {
  for (const std::filesystem::path& path : answers_files("trace", ".trace")) {
    check_answers_file(path, answered);
  }
}

}  // namespace
}  // namespace halite
