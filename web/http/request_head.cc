#include "web/http/request_head.h"

#include <algorithm>

namespace halite::web {

namespace {

constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kBlanks = " \t";

struct Line {
  std::string_view text;  // without its end
  bool bare = false;      // ends in LF without CR
};

// Removes and returns the first line. Every line has an end.
Line take_line(std::string_view& lines) {
  const std::size_t end = lines.find('\n');
  Line line{.text = lines.substr(0, end), .bare = true};
  lines.remove_prefix(end + 1);
  if (line.text.ends_with('\r')) {
    line.text.remove_suffix(1);
    line.bare = false;
  }
  return line;
}

// Normalises "GET /  HTTP/1.1 " to one blank between words and none around them.
std::string tidy_blanks(std::string_view line) {
  std::string tidy;
  while (true) {
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
    if (line.empty()) return tidy;
    if (!tidy.empty()) tidy += ' ';
    const std::size_t end = std::min(line.find_first_of(kBlanks), line.size());
    tidy += line.substr(0, end);
    line.remove_prefix(end);
  }
}

bool has_spare_blanks(std::string_view line) {
  return line.starts_with(' ') || line.ends_with(' ') || line.contains("  ") || line.contains('\t');
}

}  // namespace

std::size_t HeadEnd::find(std::string_view bytes) {
  while (true) {
    const std::size_t end = bytes.find('\n', looked_);
    if (end == std::string_view::npos) {
      looked_ = bytes.size();
      return end;
    }
    const std::string_view behind = bytes.substr(end + 1);
    if (behind.starts_with('\n')) return end + 2;
    if (behind.starts_with(kLineEnd)) return end + 1 + kLineEnd.size();
    looked_ = end;
    if (behind.empty() || behind == "\r") return std::string_view::npos;
    looked_ = end + 1;
  }
}

Result<RequestHead> tidy_head(std::string_view head) {
  std::string_view rest = head;
  const Line first = take_line(rest);
  bool mixed = false;
  bool empty_line_differs = false;
  while (!rest.empty()) {
    const Line line = take_line(rest);
    const bool differs = line.bare != first.bare;
    (line.text.empty() ? empty_line_differs : mixed) |= differs;
  }
  if (mixed) {
    return fail(Errc::kInvalidArgument, "its lines must all end in CR LF, or all in LF");
  }
  RequestHead tidy{.text = {}, .last = empty_line_differs};
  if (!first.bare && !empty_line_differs && !has_spare_blanks(first.text)) return tidy;
  tidy.text.reserve(head.size() + 64);
  tidy.text += tidy_blanks(first.text);
  tidy.text += kLineEnd;
  rest = head;
  (void)take_line(rest);
  while (!rest.empty()) {
    tidy.text += take_line(rest).text;
    tidy.text += kLineEnd;
  }
  return tidy;
}

}  // namespace halite::web
