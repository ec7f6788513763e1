#include "web/http/http_response.h"

#include <ctime>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "web/http/content_coding.h"

namespace halite::web {

namespace {

bool may_have_body(int status) { return status >= 200 && status != 204 && status != 304; }

void append_header(std::string& to, std::string_view name, std::string_view value) {
  fmt::format_to(std::back_inserter(to), "{}: {}\r\n", name, value);
}

constexpr std::string_view kSecurityOfAll = "X-Content-Type-Options: nosniff\r\n";

constexpr std::string_view kSecurityOfPages =
    "Content-Security-Policy: default-src 'self'; base-uri 'none'; object-src 'none'; "
    "form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'\r\n"
    "X-Frame-Options: DENY\r\n"
    "Referrer-Policy: no-referrer\r\n";

// Content that a browser opens as a page and whose scripts it runs.
bool is_page(std::string_view content_type) {
  return content_type.starts_with("text/html") || content_type.starts_with("image/svg");
}

// Headers that stop browsers from misinterpreting an answer. For every answer with content: the
// declared type is final. For pages also: they run, show and are framed by only what comes from
// this server.
void append_security_headers(std::string& head, std::string_view content_type) {
  if (content_type.empty()) return;
  head += kSecurityOfAll;
  if (is_page(content_type)) head += kSecurityOfPages;
}

// For temporary errors; answers with a better estimate set it themselves.
constexpr std::string_view kRetryAfterSeconds = "1";

// Each thread formats it once each second.
const std::string& date_text(TimestampMs now) {
  thread_local std::time_t made_for = -1;
  thread_local std::string text;
  const auto seconds = static_cast<std::time_t>(now / 1000);
  if (text.empty() || seconds != made_for) {
    text = fmt::format("{:%a, %d %b %Y %H:%M:%S} GMT", fmt::gmtime(seconds));
    made_for = seconds;
  }
  return text;
}

// Sends one answer.
class Sender {
 public:
  Sender(ClientConnection& link, const WebOptions& options, ResponseOptions manner,
         Response response)
      : connection_(link), options_(options), manner_(manner), response_(std::move(response)) {}

  Task<std::size_t> run(TimestampMs now);

 private:
  void head(TimestampMs now);
  void whole();
  void begin_stream();
  Task<void> begin_async_stream();
  void use_first(std::string second);
  Task<void> stream();
  // Moves plain_ through compression and framing to out_.
  void frame(bool last);
  Task<void> flush();

  ClientConnection& connection_;
  const WebOptions& options_;
  ResponseOptions manner_;
  Response response_;
  std::optional<Deflater> deflater_;
  std::string plain_;   // produced, not yet framed
  std::string next_;    // produced after plain_
  std::string packed_;  // compressed, not yet framed
  std::string out_;     // framed, not yet sent
  bool streams_ = false;
  std::size_t sent_ = 0;
};

void Sender::head(TimestampMs now) {
  fmt::format_to(std::back_inserter(out_), "HTTP/1.1 {} {}\r\n", response_.status,
                 reason_phrase(response_.status));
  if (!response_.content_type.empty()) append_header(out_, "Content-Type", response_.content_type);
  for (const Header& header : response_.headers.list()) {
    append_header(out_, header.name, header.value);
  }
  append_security_headers(out_, response_.content_type);
  if (response_.status == 503 && response_.headers.get("Retry-After").empty()) {
    append_header(out_, "Retry-After", kRetryAfterSeconds);
  }
  append_header(out_, "Date", date_text(now));
  if (!manner_.keep_alive) {
    append_header(out_, "Connection", "close");
  } else if (!manner_.chunks) {
    append_header(out_, "Connection", "keep-alive");  // HTTP/1.0 needs it
  }
}

void Sender::whole() {
  const bool empty = manner_.head || !may_have_body(response_.status);
  if (deflater_) {
    std::string packed;
    deflater_->add(response_.body, packed);
    deflater_->finish(packed);
    response_.body = std::move(packed);
  }
  // Also with 204, contrary to HTTP: OpenTSDB sends it, and some agents rely on it.
  const std::size_t length = may_have_body(response_.status) ? response_.body.size() : 0;
  append_header(out_, "Content-Length", fmt::format_int(length).c_str());
  out_ += "\r\n";
  if (!empty) out_ += response_.body;
}

void Sender::frame(bool last) {
  std::string_view piece = plain_;
  if (deflater_) {
    packed_.clear();
    deflater_->add(plain_, packed_);
    if (last) deflater_->finish(packed_);
    piece = packed_;
  }
  if (!manner_.chunks) {
    out_ += piece;
  } else {
    if (!piece.empty()) {
      fmt::format_to(std::back_inserter(out_), "{:x}\r\n{}\r\n", piece.size(), piece);
    }
    if (last) out_ += "0\r\n\r\n";
  }
  plain_.clear();
}

Task<void> Sender::flush() {
  const std::size_t size = out_.size();
  CO_TRY_VOID(co_await connection_.write(out_, options_.write_timeout_ms));
  out_.clear();
  sent_ += size;
  co_return Result<void>();
}

// The first piece is often the whole body; then it is sent with its length.
void Sender::begin_stream() {
  streams_ = response_.source->next(plain_);
  std::string second;
  if (streams_) streams_ = response_.source->next(second);
  use_first(std::move(second));
}

Task<void> Sender::begin_async_stream() {
  CO_TRY(streams_, co_await response_.async_source->next(plain_));
  std::string second;
  if (streams_) {
    CO_TRY(streams_, co_await response_.async_source->next(second));
  }
  use_first(std::move(second));
  co_return Result<void>();
}

void Sender::use_first(std::string second) {
  if (streams_) {
    response_.body = std::move(second);
    return;
  }
  response_.body = std::exchange(plain_, {});
  response_.source.reset();
  response_.async_source.reset();
}

Task<void> Sender::stream() {
  if (manner_.chunks) append_header(out_, "Transfer-Encoding", "chunked");
  out_ += "\r\n";
  bool more = !manner_.head;
  while (more) {
    next_.clear();
    if (response_.async_source) {
      CO_TRY(more, co_await response_.async_source->next(next_));
    } else {
      more = response_.source->next(next_);
    }
    frame(!more);
    plain_.swap(next_);
    CO_TRY_VOID(co_await flush());
  }
  co_return co_await flush();
}

Task<std::size_t> Sender::run(TimestampMs now) {
  if (response_.source) begin_stream();
  if (response_.async_source) CO_TRY_VOID(co_await begin_async_stream());
  Coding coding = Coding::kIdentity;
  const bool long_enough = streams_ || response_.body.size() >= options_.gzip_bytes_min;
  if (options_.gzip_level > 0 && long_enough && !response_.body.empty() &&
      !response_.headers.has("Content-Encoding")) {
    coding = choose_coding(manner_.accept_encoding);
  }
  if (coding != Coding::kIdentity) {
    deflater_.emplace(coding, options_.gzip_level);
    response_.headers.add("Content-Encoding", std::string(coding_name(coding)));
    response_.headers.add("Vary", "Accept-Encoding");
  }
  head(now);
  if (streams_) {
    plain_ += std::exchange(response_.body, {});
    CO_TRY_VOID(co_await stream());
  } else {
    whole();
    CO_TRY_VOID(co_await flush());
  }
  co_return sent_;
}

}  // namespace

Task<std::size_t> send_response(ClientConnection& link, const WebOptions& options, TimestampMs now,
                                ResponseOptions manner, Response response) {
  Sender sender(link, options, manner, std::move(response));
  co_return co_await sender.run(now);
}

}  // namespace halite::web
