#include "tests/text/conversation.h"

#include <array>
#include <charconv>
#include <fstream>
#include <functional>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "web/name_list.h"

namespace halite::test {

namespace {

struct Mark {
  std::string_view text;
  StepKind kind;
  bool escaped;
};
constexpr std::array kMarks = {
    Mark{"gunzip<<", StepKind::kExpectGzip, true},
    Mark{"chunks<<", StepKind::kExpectChunks, true},
    Mark{"gzip>>", StepKind::kSendGzip, true},
    Mark{"proto>>", StepKind::kSendProto, false},
    Mark{"snappy>>", StepKind::kSendSnappy, false},
    Mark{"chunk>", StepKind::kSendChunk, true},
    Mark{">>", StepKind::kSendRaw, true},
    Mark{">", StepKind::kSend, true},
    Mark{"<<", StepKind::kExpectRaw, true},
    Mark{"<~", StepKind::kExpectLike, false},
    Mark{"<", StepKind::kExpect, true},
    Mark{"split", StepKind::kSplit, false},
    Mark{"pause", StepKind::kPause, false},
    Mark{"clock", StepKind::kClock, false},
    Mark{"connect", StepKind::kConnect, false},
    Mark{"half-close", StepKind::kHalfClose, false},
    Mark{"closed", StepKind::kClosed, false},
    Mark{"silence", StepKind::kSilence, false},
    Mark{"option", StepKind::kSetting, false},
};

template <class Number>
std::function<Result<void>(std::string_view)> number_into(Number& field) {
  return [&field](std::string_view text) -> Result<void> {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), field);
    if (error != std::errc() || end != text.data() + text.size()) {
      return fail(Errc::kInvalidArgument, fmt::format("\"{}\" is no number", text));
    }
    return {};
  };
}

std::function<Result<void>(std::string_view)> flag_into(bool& field) {
  return [&field](std::string_view text) -> Result<void> {
    field = text == "on";
    return {};
  };
}

std::function<Result<void>(std::string_view)> text_into(std::string& field) {
  return [&field](std::string_view text) -> Result<void> {
    field = text;
    return {};
  };
}

// The settings that conversations need, under the names they have in the config.
Result<void> set_option(TestServerOptions& options, std::string_view name, std::string_view value) {
  web::WebOptions& web = options.web;
  const std::map<std::string_view, std::function<Result<void>(std::string_view)>> fields = {
      {"now_ms", number_into(options.now_ms)},
      {"not_ready", text_into(options.not_ready)},
      {"opentsdb_words", flag_into(web.opentsdb_words)},
      {"ingest.create_metrics", flag_into(options.ingest.create.metrics)},
      {"counters", text_into(options.counters)},
      {"rollups.config", text_into(options.rollups)},
      {"histograms.config", text_into(options.histograms)},
      {"otlp.resource_attributes",
       [&web](std::string_view list) -> Result<void> {
         web.otlp_resource_attributes = web::names_in(list);
         return {};
       }},
      {"ingest.tags_max", number_into(options.ingest.limits.tags_max)},
      {"ingest.name_bytes_max", number_into(options.ingest.limits.name_bytes_max)},
      {"ingest.points_per_request_max", number_into(options.ingest.limits.points_per_request_max)},
      {"query.fetch_bytes_max", number_into(options.query.fetch.bytes_max)},
      {"query.fetch_free_rows", number_into(options.query.fetch.free_rows)},
      {"query.fetch_points_max", number_into(options.query.fetch.points_max)},
      {"query.fetch_points_override", flag_into(options.query.fetch.points_override)},
      {"query.output_points_max", number_into(options.query.output_points_max)},
      {"query.skip_unknown_values", flag_into(options.skip_unknown_values)},
      {"auth.anonymous", text_into(web.access.anonymous)},
      {"auth.failures_max", number_into(web.access.failures_max)},
      {"auth.file",
       [&web](std::string_view name) -> Result<void> {
         web.access.file = fmt::format(HALITE_SOURCE_DIR "/tests/text/web/{}", name);
         return {};
       }},
      {"web.api", flag_into(web.api)},
      {"web.pages", flag_into(web.pages)},
      {"web.allow_delete", flag_into(web.allow_delete)},
      {"web.bodies_bytes_max", number_into(web.bodies_bytes_max)},
      {"web.body_bytes_max", number_into(web.body_bytes_max)},
      {"web.body_inflated_bytes_max", number_into(web.body_inflated_bytes_max)},
      {"web.connections_max", number_into(web.connections_max)},
      {"web.cors_domains", text_into(web.cors_domains)},
      {"web.error_trace", flag_into(web.error_trace)},
      {"web.get_may_write", flag_into(web.get_may_write)},
      {"web.grafana_prefix", flag_into(web.grafana_prefix)},
      {"web.header_bytes_max", number_into(web.header_bytes_max)},
      {"web.hosts", text_into(web.hosts)},
      {"web.idle_timeout_ms", number_into(web.idle_timeout_ms)},
      {"web.line_bytes_max", number_into(web.line_bytes_max)},
      {"web.linger_timeout_ms", number_into(web.linger_timeout_ms)},
      {"web.lookup_series_max", number_into(web.lookup_series_max)},
      {"web.request_timeout_ms", number_into(web.request_timeout_ms)},
      {"web.requests_per_connection_max", number_into(web.requests_per_connection_max)},
      {"web.suggest_names_max", number_into(web.suggest_names_max)},
      {"web.telnet_idle_timeout_ms", number_into(web.telnet_idle_timeout_ms)},
  };
  if (name == "web.mode") {
    web.mode = value == "ro"   ? web::Mode::kReadOnly
               : value == "wo" ? web::Mode::kWriteOnly
                               : web::Mode::kReadWrite;
    return {};
  }
  const auto found = fields.find(name);
  if (found == fields.end()) {
    return fail(Errc::kInvalidArgument,
                fmt::format("no such option here: {} (tests/text/conversation.cc)", name));
  }
  return found->second(value);
}

Result<Step> parse_line(std::string line, std::size_t number) {
  Step step{.kind = StepKind::kComment, .text = {}, .line = std::move(line), .number = number};
  if (step.line.empty() || step.line[0] == '#') return step;
  for (const Mark& mark : kMarks) {
    if (!step.line.starts_with(mark.text)) continue;
    std::string_view text = std::string_view(step.line).substr(mark.text.size());
    if (text.starts_with(' ')) text.remove_prefix(1);
    step.kind = mark.kind;
    if (mark.escaped) {
      TRY(step.text, unescape(text));
    } else {
      step.text = text;
    }
    return step;
  }
  return fail(Errc::kInvalidArgument,
              fmt::format("line {}: \"{}\" begins with no known mark", number, step.line));
}

int hex_value(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// "x{HH}*count" after a backslash: one byte many times. Returns what is left of the text.
Result<std::string_view> unescape_run(std::string_view text, std::string& to) {
  const bool shaped = text.size() > 6 && text[4] == '}' && text[5] == '*';
  const int high = shaped ? hex_value(text[2]) : -1;
  const int low = shaped ? hex_value(text[3]) : -1;
  std::size_t count = 0;
  const char* end = text.data() + text.size();
  const auto parsed =
      shaped ? std::from_chars(text.data() + 6, end, count) : std::from_chars_result{end, {}};
  if (high < 0 || low < 0 || count == 0) {
    return fail(Errc::kInvalidArgument, "a run is written \\x{HH}*count");
  }
  to.append(count, static_cast<char>(high * 16 + low));
  return std::string_view(parsed.ptr, static_cast<std::size_t>(end - parsed.ptr));
}

}  // namespace

Result<std::string> unescape(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    if (text[0] != '\\' || text.size() < 2) {
      result += text[0];
      text.remove_prefix(1);
      continue;
    }
    constexpr std::string_view kLetters = "rnt\\";
    constexpr std::string_view kBytes = "\r\n\t\\";
    const std::size_t letter = kLetters.find(text[1]);
    if (letter != std::string_view::npos) {
      result += kBytes[letter];
      text.remove_prefix(2);
    } else if (text.starts_with("\\x{")) {
      TRY(text, unescape_run(text.substr(1), result));
    } else if (text.size() >= 4 && text[1] == 'x' && hex_value(text[2]) >= 0 &&
               hex_value(text[3]) >= 0) {
      result += static_cast<char>(hex_value(text[2]) * 16 + hex_value(text[3]));
      text.remove_prefix(4);
    } else {
      return fail(Errc::kInvalidArgument, fmt::format("unknown escape {}", text.substr(0, 4)));
    }
  }
  return result;
}

std::string escape(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '\r':
        text += "\\r";
        break;
      case '\n':
        text += "\\n";
        break;
      case '\t':
        text += "\\t";
        break;
      case '\\':
        text += "\\\\";
        break;
      default:
        if (byte < 0x20 || byte >= 0x7f) {
          text += fmt::format("\\x{:02x}", byte);
        } else {
          text += c;
        }
    }
  }
  return text;
}

Result<Conversation> read_conversation(const std::string& path) {
  Conversation conversation;
  conversation.path = path;
  conversation.http = path.ends_with(".http");
  std::ifstream file(path);
  if (!file) return fail(Errc::kNotFound, fmt::format("cannot read {}", path));
  std::string line;
  std::size_t number = 0;
  while (std::getline(file, line)) {
    TRY(Step step, parse_line(line, ++number));
    if (step.kind == StepKind::kSetting) {
      const std::size_t space = step.text.find(' ');
      const std::string value = space == std::string::npos ? "" : step.text.substr(space + 1);
      TRY_VOID(set_option(conversation.options, step.text.substr(0, space), value));
    }
    conversation.steps.push_back(std::move(step));
  }
  return conversation;
}

}  // namespace halite::test
