// The only file of the server's sockets that includes Boost.Beast (15 s of compile time).
#include "web/http/http_parser.h"

// clang-format off
#include "common/boost_assertions.h"  // before Beast
// clang-format on

#include <algorithm>
#include <cctype>
#include <cstring>
#include <limits>
#include <utility>

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>
#include <fmt/format.h>

#include "common/log.h"
#include "web/http/request_head.h"

namespace halite::web {

namespace beast = boost::beast;
namespace http = beast::http;

namespace {

// When Beast has seen the line of the last chunk and waits for the end of the body, it asserts that
// the next try has more than that line.
constexpr std::size_t kLastChunkBytesMin = std::string_view("0\r\n\r\n").size();

// Beast accepts any byte in a quoted extension. A proxy might end the line at such a byte, and so
// see other chunks and another end of the body.
struct CheckChunkExtensions {
  void operator()(std::uint64_t, beast::string_view extensions, beast::error_code& error) const {
    const auto is_control = [](unsigned char byte) {
      return (byte < 0x20 && byte != '\t') || byte == 0x7F;
    };
    if (std::ranges::any_of(extensions, is_control)) error = http::error::bad_chunk_extension;
  }
};

}  // namespace

struct HttpParser::Impl {
  using Parser = http::request_parser<http::string_body>;
  static constexpr std::uint32_t kNoLimit = std::numeric_limits<std::uint32_t>::max();

  CheckChunkExtensions check_chunk_extensions;  // the parser keeps a reference
  Parser parser;
  HttpLimits limits;
  bool started = false;
  std::optional<Failure> failure;
  // A body of known length is kept here; Beast would copy it once more.
  bool plain_body = false;
  std::size_t body_length = 0;
  std::size_t body_came = 0;
  std::string body;
  bool in_chunk_line = false;  // or in trailers: Beast waits for more
  HeadEnd head_end;
  bool first_line_checked = false;
  bool last = false;  // no other request may follow

  bool parse_head(std::string_view head, Parser& into);
  void check_first_line(std::string_view bytes);
  Fed feed_head(std::string_view bytes);
  Fed feed_chunks(std::string_view bytes);
  void begin_body();
  [[nodiscard]] std::size_t body_missing() const { return body_length - body_came; }
  char* grow_body(std::size_t bytes);
  void fail_with(const beast::error_code& error);
  void fail_with_assertion(std::string_view assertion);
  void explain_bad_version(std::string_view head);
  void check_coding();
  void check_chunk_line(std::string_view waiting);
  void limit_lines(std::size_t bytes);
};

void HttpParser::Impl::fail_with(const beast::error_code& error) {
  if (error == http::error::body_limit) {
    failure = Failure{413, fmt::format("The body is longer than {} bytes (web.body_bytes_max)",
                                       limits.body_bytes_max)};
  } else if (error == http::error::header_limit) {
    failure = Failure{431, fmt::format("The request line and headers are longer than {} bytes "
                                       "(web.header_bytes_max)",
                                       limits.header_bytes_max)};
  } else if (error == http::error::bad_version) {
    failure = Failure{505, "This server supports HTTP/1.0 and HTTP/1.1 only"};
  } else {
    failure = Failure{400, fmt::format("Not an HTTP request: {}", error.message())};
  }
}

void HttpParser::Impl::fail_with_assertion(std::string_view assertion) {
  log::error("a request was aborted because an assertion of Boost.Beast failed: {}", assertion);
  failure = Failure{500, "The HTTP parser failed on this request; see the server's log"};
}

// Beast treats everything after the first space behind the target as the version.
void HttpParser::Impl::explain_bad_version(std::string_view head) {
  const std::string_view line = head.substr(0, head.find('\r'));
  if (!line.ends_with(" HTTP/1.1") && !line.ends_with(" HTTP/1.0")) return;
  failure = Failure{400, "Not an HTTP request: write a space in the target as %20"};
}

// With any other coding the end of the body is unknown here, while a proxy may know it.
void HttpParser::Impl::check_coding() {
  const auto& message = parser.get();
  const std::string_view coding = message[http::field::transfer_encoding];
  if (coding.empty()) return;
  if (message.count(http::field::transfer_encoding) != 1 || !beast::iequals(coding, "chunked")) {
    failure = Failure{501, fmt::format("Transfer-Encoding must be chunked, not \"{}\"", coding)};
  } else if (message.version() < 11) {
    failure = Failure{400, "Not an HTTP request: HTTP/1.0 has no Transfer-Encoding"};
  }
}

// For a chunk with data Beast waits only for the end of its line. If that is present, a quoted
// extension is open: Beast would search for the quote after the line, and subtract the chunk's size
// from the body's limit at each try. A bare LF does not end a line here. Otherwise one reader's
// chunk data could be another reader's next request.
void HttpParser::Impl::check_chunk_line(std::string_view waiting) {
  for (std::size_t at = waiting.find('\n'); at != std::string_view::npos;
       at = waiting.find('\n', at + 1)) {
    if (at != 0 && waiting[at - 1] == '\r') continue;
    failure = Failure{400, "Not an HTTP request: lines between chunks must end with CR LF"};
    return;
  }
  if (waiting.starts_with("\r\n")) waiting.remove_prefix(2);  // ends the previous chunk
  const std::size_t digit = waiting.find_first_not_of('0');
  const bool has_data =
      digit < waiting.size() && std::isxdigit(static_cast<unsigned char>(waiting[digit])) != 0;
  if (has_data && waiting.contains("\r\n")) fail_with(http::error::bad_chunk_extension);
}

// Beast does not limit what stands before and after chunks. A normalised head may exceed Beast's
// own limit.
void HttpParser::Impl::limit_lines(std::size_t bytes) {
  if (bytes > limits.header_bytes_max) fail_with(http::error::header_limit);
}

void HttpParser::Impl::begin_body() {
  if (parser.is_done() || parser.chunked() || !parser.content_length()) return;
  plain_body = true;
  body_length = static_cast<std::size_t>(*parser.content_length());
}

// Memory grows with the bytes received, not with the announced length.
char* HttpParser::Impl::grow_body(std::size_t bytes) {
  constexpr std::size_t kBelievedBytes = 256 << 10;
  constexpr std::size_t kPaddingBytes = 64;  // JSON parsers need padding after the text
  if (body.capacity() < body_came + bytes) {
    const std::size_t twice = std::max({kBelievedBytes, body_came + bytes, 2 * body_came});
    body.reserve(std::min(twice, body_length) + kPaddingBytes);
  }
  const std::size_t size = body_came + bytes;
  body.resize_and_overwrite(size, [size](char*, std::size_t) { return size; });
  return body.data() + body_came;
}

namespace {

Request head_of(const http::request<http::string_body>& message) {
  Request request;
  request.method = std::string(message.method_string());
  request.target = std::string(message.target());
  request.minor_version = message.version() >= 11 ? 1 : 0;
  request.keep_alive = message.keep_alive();
  for (const auto& field : message) {
    request.headers.add(std::string(field.name_string()), std::string(field.value()));
  }
  return request;
}

}  // namespace

HttpParser::HttpParser(HttpLimits limits) : impl_(std::make_unique<Impl>()) {
  impl_->limits = limits;
  impl_->parser.header_limit(Impl::kNoLimit);
  impl_->parser.body_limit(limits.body_bytes_max);
  impl_->parser.on_chunk_header(impl_->check_chunk_extensions);
  impl_->parser.eager(false);  // a step ends after the header, so that its size is known
}

HttpParser::~HttpParser() = default;
HttpParser::HttpParser(HttpParser&&) noexcept = default;
HttpParser& HttpParser::operator=(HttpParser&&) noexcept = default;

// Returns false and sets `failure` if the head is invalid.
bool HttpParser::Impl::parse_head(std::string_view head, Parser& into) {
  const Result<RequestHead> tidy = tidy_head(head);
  if (!tidy) {
    failure = Failure{400, "Not an HTTP request: " + tidy.error().message};
    return false;
  }
  if (!tidy->text.empty()) head = tidy->text;
  last = tidy->last;
  beast::error_code error;
  (void)into.put(boost::asio::const_buffer(head.data(), head.size()), error);
  if (!error) return true;
  fail_with(error);
  if (error == http::error::bad_version) explain_bad_version(head);
  return false;
}

// A client of another protocol waits for an answer and never ends a head.
void HttpParser::Impl::check_first_line(std::string_view bytes) {
  const std::size_t end = first_line_checked ? std::string_view::npos : bytes.find('\n');
  if (end == std::string_view::npos) return;
  first_line_checked = true;
  const std::string_view line = bytes.substr(0, end + 1);
  Parser alone;
  alone.header_limit(kNoLimit);
  (void)parse_head(std::string(line) + (line.ends_with("\r\n") ? "\r\n" : "\n"), alone);
}

HttpParser::Fed HttpParser::Impl::feed_head(std::string_view bytes) {
  const std::size_t end = head_end.find(bytes);
  limit_lines(std::min(end, bytes.size()));
  if (failure) return {};
  if (end == std::string_view::npos) {
    check_first_line(bytes);
    return {.consumed = 0, .need_more = true};
  }
  if (!parse_head(bytes.substr(0, end), parser)) return {};
  check_coding();
  if (!failure) begin_body();
  return {.consumed = end, .need_more = false};
}

HttpParser::Fed HttpParser::Impl::feed_chunks(std::string_view bytes) {
  if (in_chunk_line && bytes.size() < kLastChunkBytesMin) return {.consumed = 0, .need_more = true};
  beast::error_code error;
  const std::size_t consumed =
      parser.put(boost::asio::const_buffer(bytes.data(), bytes.size()), error);
  in_chunk_line = error == http::error::need_more;
  if (in_chunk_line) {
    check_chunk_line(bytes.substr(consumed));
    limit_lines(bytes.size() - consumed);
  } else if (error) {
    fail_with(error);
  }
  return {.consumed = consumed, .need_more = in_chunk_line};
}

HttpParser::Fed HttpParser::feed(std::string_view bytes) {
  Fed fed;
  while (fed.consumed < bytes.size() && !fed.need_more && !done() && !impl_->failure) {
    impl_->started = true;
    const std::string_view rest = bytes.substr(fed.consumed);
    if (impl_->plain_body) {
      const std::size_t taken = std::min(rest.size(), impl_->body_missing());
      std::memcpy(impl_->grow_body(taken), rest.data(), taken);
      impl_->body_came += taken;
      fed.consumed += taken;
      continue;
    }
    const auto step = [&] {
      const Fed taken = header_done() ? impl_->feed_chunks(rest) : impl_->feed_head(rest);
      fed.consumed += taken.consumed;
      fed.need_more = taken.need_more;
    };
    if (const std::optional<std::string> assertion = failed_assertion(step)) {
      impl_->fail_with_assertion(*assertion);
    }
  }
  return fed;
}

bool HttpParser::started() const { return impl_->started; }
bool HttpParser::header_done() const { return impl_->parser.is_header_done(); }
bool HttpParser::done() const {
  return impl_->plain_body ? impl_->body_missing() == 0 : impl_->parser.is_done();
}
const std::optional<HttpParser::Failure>& HttpParser::failure() const { return impl_->failure; }

std::size_t HttpParser::body_bytes() const {
  return impl_->plain_body ? impl_->body_came : impl_->parser.get().body().size();
}

std::span<char> HttpParser::body_space(std::size_t most) {
  if (!impl_->plain_body || impl_->failure) return {};
  const std::size_t bytes = std::min(most, impl_->body_missing());
  return {impl_->grow_body(bytes), bytes};
}

void HttpParser::body_filled(std::size_t count) {
  impl_->body_came += count;
  impl_->body.resize(impl_->body_came);
}

bool HttpParser::expects_continue() const {
  const auto& message = impl_->parser.get();
  return message.version() >= 11 && beast::iequals(message[http::field::expect], "100-continue");
}

Request HttpParser::head() const { return head_of(impl_->parser.get()); }

Request HttpParser::take() {
  http::request<http::string_body> message = impl_->parser.release();
  Request request = head_of(message);
  if (impl_->last) request.keep_alive = false;
  request.body = impl_->plain_body ? std::move(impl_->body) : std::move(message.body());
  return request;
}

}  // namespace halite::web
