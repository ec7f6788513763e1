#include "web/http/http_session.h"

#include <algorithm>
#include <utility>

#include "web/authorize.h"
#include "web/http/charset.h"
#include "web/http/content_coding.h"
#include "web/http/disconnect_monitor.h"
#include "web/http/http_response.h"
#include "web/json/error_map.h"
#include "web/request_trace.h"

namespace halite::web {

namespace asio = boost::asio;

namespace {

// Headers fit into it. More of the body would have to be copied to the body's buffer.
constexpr std::size_t kFirstReadBytes = 4 << 10;

constexpr std::size_t kShortBodyBytes = 8192;

// OpenTSDB's answer to bodies that its HTTP decoder splits, unless that is enabled.
std::optional<Response> refuse_long_body(const Request& request, const WebOptions& options) {
  const bool in_chunks = !request.headers.get("Transfer-Encoding").empty();
  if (options.long_bodies || (!in_chunks && request.body.size() <= kShortBodyBytes)) {
    return std::nullopt;
  }
  return text_response(
      400, error_page(reason_phrase(400), "Chunked request not supported. (web.long_bodies)"),
      kHtmlType);
}

// The answer to a body that cannot be decoded. Always JSON, unless the endpoint is of another
// protocol.
Response refuse_body(const Call& call, int status, const Error& error) {
  if (call.target.foreign()) return error_response(call, status, error.message, error.details);
  return json_response(status, error_envelope(status, error.message, error.details));
}

// The client's address in Java's format.
std::string remote_text(const asio::ip::tcp::socket& socket) {
  boost::system::error_code gone;
  const auto remote = socket.remote_endpoint(gone);
  if (gone) return {};
  const std::string address = remote.address().to_string();
  const bool v6 = remote.address().is_v6();
  return (v6 ? "/[" + address + "]:" : "/" + address + ":") + std::to_string(remote.port());
}

// The answer to a request that was not read to its end, in the form of its path's protocol.
Response refuse_unread(const HttpParser& parser, const WebOptions& options, int status,
                       std::string_view message) {
  if (parser.header_done() || status == 413) {  // 413: the headers are complete
    const Request head = parser.head();
    Target target;
    (void)parse_target(head.target, options.grafana_prefix, target);
    if (target.foreign()) {
      Response refusal = foreign_error(target.dialect, head, status, message);
      refusal.close = true;
      return refusal;
    }
  }
  return refuse(status, message);
}

constexpr std::string_view kTooManyBodies =
    "Too many large requests at once; try again later (web.bodies_bytes_max)";

}  // namespace

HttpSession::HttpSession(ClientConnection& link, WebContext& context, std::string early)
    : connection_(link),
      context_(context),
      in_(std::move(early)),
      remote_(remote_text(link.socket())),
      body_share_(context.bodies) {}

asio::awaitable<void> HttpSession::run() {
  bool more = true;
  while (more) {
    std::optional<Request> request = co_await receive();
    more = false;
    if (request) more = co_await serve(std::move(*request));
  }
}

asio::awaitable<std::optional<Request>> HttpSession::receive() {
  const WebOptions& options = context_.options;
  HttpParser parser({options.header_bytes_max, options.body_bytes_max});
  const std::int64_t idle_deadline = ClientConnection::deadline_in(options.idle_timeout_ms);
  std::int64_t deadline = 0;
  bool told_to_continue = false;
  bool admitted = context_.access.anonymous().roles.may(Role::kAdmin);
  while (true) {
    const bool readable = co_await parse(parser);
    if (!readable) co_return std::nullopt;
    if (parser.done()) {
      Request request = parser.take();
      request.remote = remote_;
      co_return request;
    }
    if (parser.started() && deadline == 0) {
      deadline = ClientConnection::deadline_in(options.request_timeout_ms);
    }
    if (parser.header_done() && !admitted) {
      admitted = co_await admit(parser.head());
      if (!admitted) co_return std::nullopt;
    }
    if (parser.header_done() && !told_to_continue && parser.expects_continue()) {
      told_to_continue = true;
      const Result<void> told =
          co_await connection_.write("HTTP/1.1 100 Continue\r\n\r\n", options.write_timeout_ms);
      if (!told) co_return std::nullopt;
    }
    const bool read = co_await read_more(parser, parser.started() ? deadline : idle_deadline);
    if (!read) co_return std::nullopt;
  }
}

// Only authorized callers may use memory for bodies.
asio::awaitable<bool> HttpSession::admit(Request head) {
  head.remote = remote_;
  RoutedRequest routed =
      route(context_.options, context_.services, context_.metrics, std::move(head), {});
  if (routed.endpoint == nullptr) co_return co_await refuse_early(std::move(routed.refusal));
  auto authorizing = authorize(context_.access, routed.call, *routed.endpoint);
  std::optional<Response> refusal = co_await std::move(authorizing);
  if (!refusal) co_return true;
  audit(routed.call, refusal->status);
  co_return co_await refuse_early(*std::move(refusal));
}

asio::awaitable<bool> HttpSession::refuse_early(Response refusal) {
  const ResponseOptions manner{
      .head = false, .chunks = true, .keep_alive = false, .accept_encoding = {}};
  context_.metrics.request("none", refusal.status, 0);
  const Result<std::size_t> sent = co_await send_response(
      connection_, context_.options, context_.services.clock.now_ms(), manner, std::move(refusal));
  if (sent) co_await connection_.linger(context_.options.linger_timeout_ms);
  co_return false;
}

asio::awaitable<bool> HttpSession::parse(HttpParser& parser) {
  if (!parser.started()) {
    // Some old clients send an extra empty line after a body.
    while (at_ < in_.size() && (in_[at_] == '\r' || in_[at_] == '\n')) ++at_;
  }
  const HttpParser::Fed fed = parser.feed(std::string_view(in_).substr(at_));
  at_ += fed.consumed;
  if (parser.failure()) {
    const HttpParser::Failure failure = *parser.failure();
    co_return co_await refuse_early(
        refuse_unread(parser, context_.options, failure.status, failure.message));
  }
  if (at_ == in_.size()) {
    in_.clear();
    at_ = 0;
  }
  if (!body_share_.grow_to(parser.body_bytes())) {
    co_await refuse_and_end(503, kTooManyBodies);
    co_return false;
  }
  co_return true;
}

std::optional<Response> HttpSession::unpack(Call& call, BodyForm form) {
  Request& request = call.request;
  const WebOptions& options = context_.options;
  const Result<Coding> coding = parse_content_encoding(request.headers.get("Content-Encoding"),
                                                       form == BodyForm::kRemoteWrite);
  if (!coding) return refuse_body(call, 415, coding.error());
  const bool packed = *coding != Coding::kIdentity;
  if (packed) {
    const auto inflated = [&](std::size_t bytes_max) {
      return inflate_body(request.body, *coding, bytes_max);
    };
    std::optional<Response> broken = replace_body(call, options.body_inflated_bytes_max, inflated);
    if (broken) return broken;
  }
  if (request.body.empty() || form != BodyForm::kText) return std::nullopt;
  const Result<Charset> charset = parse_charset(request.headers.get("Content-Type"));
  if (!charset) return refuse_body(call, 415, charset.error());
  if (charset->library == nullptr) return std::nullopt;
  const auto decoded = [&](std::size_t bytes_max) {
    return decode_body(request.body, *charset, bytes_max,
                       packed ? "web.body_inflated_bytes_max" : "web.body_bytes_max");
  };
  return replace_body(call, packed ? options.body_inflated_bytes_max : options.body_bytes_max,
                      decoded);
}

template <class Make>
std::optional<Response> HttpSession::replace_body(Call& call, std::size_t bytes_max, Make make) {
  Request& request = call.request;
  const std::size_t left = context_.bodies.left();
  Result<std::string> made = make(std::min(bytes_max, left));
  const bool budget_met = made ? !body_share_.grow_to(request.body.size() + made->size())
                               : left < bytes_max && made.error().code == Errc::kTooLarge;
  if (budget_met) {
    return refuse_body(call, 503, {Errc::kOverloaded, std::string(kTooManyBodies), {}});
  }
  if (!made) {
    const bool unknown = made.error().code == Errc::kUnsupported;
    return refuse_body(call, unknown ? 415 : http_status(made.error().code), made.error());
  }
  request.body = std::move(*made);
  return std::nullopt;
}

asio::awaitable<bool> HttpSession::read_more(HttpParser& parser, std::int64_t deadline) {
  const std::size_t step_max = std::max(kFirstReadBytes, context_.options.read_bytes);
  if (const std::span<char> body = parser.body_space(step_max); !body.empty()) {
    const Result<std::size_t> came =
        co_await connection_.read_some(body.data(), body.size(), deadline, false);
    parser.body_filled(came ? *came : 0);
    co_return co_await note_read(parser, came);
  }
  in_.erase(0, at_);
  at_ = 0;
  if (!parser.started()) {
    in_ = std::string();  // an idle connection holds no buffer
    const Result<void> readable = co_await connection_.wait_readable(deadline, true);
    if (!readable) co_return co_await give_up(parser, readable.error());
  }
  // Reads bodies in growing steps.
  const std::size_t had = in_.size();
  const std::size_t step = std::clamp(in_.capacity() - had, kFirstReadBytes, step_max);
  in_.resize_and_overwrite(had + step, [](char*, std::size_t size) { return size; });
  const Result<std::size_t> count =
      co_await connection_.read_some(in_.data() + had, step, deadline, !parser.started());
  in_.resize(had + (count ? *count : 0));
  if (count && *count == step) in_.reserve(2 * (had + step));
  co_return co_await note_read(parser, count);
}

// Returns whether there is more to process.
asio::awaitable<bool> HttpSession::note_read(const HttpParser& parser, Result<std::size_t> count) {
  if (count && *count != 0) {
    context_.metrics.bytes_read.Increment(static_cast<double>(*count));
    co_return true;
  }
  if (!count) co_return co_await give_up(parser, count.error());
  if (parser.started()) {
    co_await refuse_and_end(400, "Not an HTTP request: it ends too early");
  }
  co_return false;
}

asio::awaitable<bool> HttpSession::give_up(const HttpParser& parser, Error error) {
  if (error.code == Errc::kTimeout) {
    context_.metrics.timeouts.Increment();
    if (parser.started()) {
      (void)co_await refuse_early(
          refuse_unread(parser, context_.options, 408,
                        "The request did not arrive in time (web.request_timeout_ms)"));
    }
  }
  co_return false;
}

// Decodes nothing before the caller is authorized.
asio::awaitable<std::optional<Response>> HttpSession::prepare(RoutedRequest& routed) {
  Request& request = routed.call.request;
  if (routed.endpoint != nullptr) {
    std::optional<Response> refusal =
        co_await authorize(context_.access, routed.call, *routed.endpoint);
    if (refusal) {
      audit(routed.call, refusal->status);
      co_return refusal;
    }
  }
  std::optional<Response> broken;
  if (routed.endpoint == nullptr) co_return broken;
  const BodyForm form = routed.endpoint->body;
  if (routed.endpoint->check != nullptr) broken = routed.endpoint->check(routed.call);
  if (!broken && !routed.call.target.foreign())
    broken = refuse_long_body(request, context_.options);
  if (!broken) broken = unpack(routed.call, form);
  // A byte order mark, which some Windows editors add.
  const bool text = form == BodyForm::kText || is_otlp_json(request);
  if (text && request.body.starts_with("\xEF\xBB\xBF")) {
    request.body.erase(0, 3);
  }
  co_return broken;
}

asio::awaitable<bool> HttpSession::serve(Request request) {
  const Clock& clock = context_.services.clock;
  const std::int64_t begin_us = clock.elapsed_us();
  const WebOptions& options = context_.options;
  std::stop_source& work = connection_.renew_work();
  ++served_;
  ResponseOptions manner{.head = request.method == "HEAD",
                         .chunks = request.minor_version >= 1,
                         .keep_alive = request.keep_alive,
                         .accept_encoding = {}};
  RoutedRequest routed =
      route(options, context_.services, context_.metrics, std::move(request), work.get_token());
  if (std::optional<Response> refusal = co_await prepare(routed)) {
    routed.endpoint = nullptr;
    routed.refusal = std::move(*refusal);
  }
  manner.accept_encoding = routed.call.request.headers.get("Accept-Encoding");
  // A request that is refused before its handler runs is not traced: anybody could send many.
  if (routed.endpoint != nullptr) {
    routed.call.trace = RequestTrace::begin(routed.call, *routed.endpoint, begin_us);
  }

  std::optional<DisconnectMonitor> watch;
  if (routed.endpoint != nullptr && routed.endpoint->watch_client) {
    watch.emplace(connection_.socket(), work, options.client_gone_grace_ms);
  }
  Response response = co_await answer(routed);
  if (routed.endpoint != nullptr) audit(routed.call, response.status);
  watch.reset();
  body_share_.give_back();

  const std::uint64_t most = options.requests_per_connection_max;
  if (response.close || connection_.draining() || (most != 0 && served_ >= most)) {
    manner.keep_alive = false;
  }
  const bool streams = response.source || response.async_source;
  if (streams && !manner.chunks) manner.keep_alive = false;  // close ends the body
  const int status = response.status;
  const std::shared_ptr<SpanLog> spans = spans_of(routed.call.trace);
  std::optional<SpanLog::Timed> writing(std::in_place, spans.get(), "write");
  const Result<std::size_t> sent =
      co_await send_response(connection_, options, clock.now_ms(), manner, std::move(response));
  writing.reset();
  if (sent) context_.metrics.bytes_written.Increment(static_cast<double>(*sent));
  const double seconds = static_cast<double>(clock.elapsed_us() - begin_us) / 1e6;
  const std::string_view name =
      routed.endpoint == nullptr ? std::string_view("none") : routed.endpoint->name;
  context_.metrics.request(name, status, seconds);
  if (routed.call.trace != nullptr) {
    routed.call.trace->finish(routed.call,
                              {.status = status,
                               .tls = connection_.encrypted(),
                               .endpoint = name,
                               .error = sent ? std::string_view() : errc_name(sent.error().code)});
  }
  if (!sent) {
    if (sent.error().code == Errc::kTimeout) context_.metrics.timeouts.Increment();
    co_return false;
  }
  if (manner.keep_alive) co_return true;
  if (!connection_.draining()) co_await connection_.linger(options.linger_timeout_ms);
  co_return false;
}

asio::awaitable<void> HttpSession::refuse_and_end(int status, std::string_view message) {
  (void)co_await refuse_early(refuse(status, message));
}

}  // namespace halite::web
