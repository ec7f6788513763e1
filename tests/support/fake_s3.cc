#include "tests/support/fake_s3.h"

// clang-format off
#include "common/boost_assertions.h"  // before Beast
// clang-format on

#include <charconv>
#include <mutex>
#include <thread>
#include <utility>

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "storage/tools/backup/s3/sigv4.h"

namespace halite::test {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = beast::http;
using asio::ip::tcp;
using storage::backup::S3Options;

namespace {

using Request = http::request<http::string_body>;
using Response = http::response<http::string_body>;

constexpr auto kAsTuple = asio::as_tuple(asio::use_awaitable);
const storage::backup::S3Credentials kKeys = {.key_id = "AKFAKE", .secret = "fake/+", .token = ""};

std::string decoded(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%' || i + 2 >= text.size()) {
      plain += text[i];
      continue;
    }
    unsigned byte = 0;
    std::from_chars(text.data() + i + 1, text.data() + i + 3, byte, 16);
    plain += static_cast<char>(byte);
    i += 2;
  }
  return plain;
}

std::map<std::string, std::string> parsed_query(std::string_view text) {
  std::map<std::string, std::string> found;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('&'), text.size());
    const std::string_view one = text.substr(0, end);
    const std::size_t equals = std::min(one.find('='), one.size());
    found[decoded(one.substr(0, equals))] = decoded(one.substr(std::min(equals + 1, one.size())));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

std::string text_of_time(TimestampMs now) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z", fmt::gmtime(now / 1000), now % 1000);
}

struct Stored {
  std::string content;
  TimestampMs modified = 0;
};

Response made(unsigned status, std::string body = {}) {
  Response response(static_cast<http::status>(status), 11);
  response.body() = std::move(body);
  response.keep_alive(true);
  response.prepare_payload();
  return response;
}

Response error(unsigned status, const std::string& code, const std::string& inside = {}) {
  if (code.empty()) return made(status, "no XML");
  return made(status, fmt::format("<Error><Code>{}</Code><Message>as told</Message>{}</Error>",
                                  code, inside));
}

}  // namespace

class FakeS3::Impl {
 public:
  Impl() : acceptor_(context_, {asio::ip::make_address("127.0.0.1"), 0}) {
    asio::co_spawn(context_, accept(), asio::detached);
    thread_ = std::thread([this] { context_.run(); });
  }
  ~Impl() {
    context_.stop();
    thread_.join();
  }
  Impl(const Impl&) = delete;

  [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

  std::mutex mutex_;  // guards what follows, up to the context
  Script script_;
  std::size_t page_ = 1000;
  TimestampMs now_ = 1'700'000'000'000;
  std::map<std::string, Stored> objects_;
  std::map<std::string, std::map<unsigned, std::string>> uploads_;  // by id: parts
  std::vector<FakeS3Call> calls_;

 private:
  asio::awaitable<void> accept() {
    while (true) {
      auto [refused, socket] = co_await acceptor_.async_accept(kAsTuple);
      if (refused) co_return;
      asio::co_spawn(context_, serve(std::move(socket)), asio::detached);
    }
  }

  asio::awaitable<void> serve(tcp::socket socket) {
    beast::flat_buffer buffer;
    while (true) {
      http::request_parser<http::string_body> parser;
      parser.body_limit(64 << 20);
      auto [unread, got] = co_await http::async_read(socket, buffer, parser, kAsTuple);
      if (unread) co_return;
      FakeS3Reaction reaction;
      Response response = answer(parser.get(), reaction);
      using What = FakeS3Reaction::What;
      if (reaction.what == What::kClose || reaction.what == What::kCloseDone) co_return;
      if (reaction.what == What::kSilent) {
        co_await http::async_read(socket, buffer, parser, kAsTuple);  // until the client goes
        co_return;
      }
      if (reaction.what == What::kFlip && !response.body().empty()) {
        response.body()[response.body().size() / 2] ^= 1;
      }
      if (reaction.what == What::kCut) {
        response.body().resize(response.body().size() / 2);  // its length is already announced
      }
      auto [unsent, sent] = co_await http::async_write(socket, response, kAsTuple);
      if (unsent || reaction.what == What::kCut) co_return;
    }
  }

  static bool is_signed(const Request& request, const FakeS3Call& call) {
    storage::backup::RequestToSign signing{
        .method = call.method,
        .path = fmt::format("/{}/{}", kBucket, call.key),
        .query = call.query,
        .headers = {},
        .payload_sha256 = storage::backup::sha256_hex(request.body())};
    for (const char* const name : {"host", "x-amz-content-sha256", "x-amz-date", "range"}) {
      if (request.find(name) != request.end()) signing.headers[name] = request[name];
    }
    // The time is only a part of the text that is signed.
    unsigned year = 0;
    unsigned month = 0;
    unsigned day = 0;
    unsigned hour = 0;
    unsigned minute = 0;
    unsigned second = 0;
    if (std::sscanf(signing.headers["x-amz-date"].c_str(), "%4u%2u%2uT%2u%2u%2uZ", &year, &month,
                    &day, &hour, &minute, &second) != 6) {
      return false;
    }
    const std::chrono::sys_days date = std::chrono::year(static_cast<int>(year)) /
                                       std::chrono::month(month) / std::chrono::day(day);
    const std::chrono::sys_seconds time = date + std::chrono::hours(hour) +
                                          std::chrono::minutes(minute) +
                                          std::chrono::seconds(second);
    const TimestampMs now = time.time_since_epoch().count() * 1000;
    return request["authorization"] ==
               storage::backup::sign(signing, kKeys, {.region = "us-east-1", .now = now}) &&
           signing.headers["x-amz-content-sha256"] == signing.payload_sha256;
  }

  Response answer(const Request& request, FakeS3Reaction& reaction) {
    const std::lock_guard lock(mutex_);
    const std::string target(request.target());
    const std::size_t mark = std::min(target.find('?'), target.size());
    FakeS3Call call{
        .method = std::string(request.method_string()),
        .key = decoded(target.substr(0, mark)),
        .query = parsed_query(std::string_view(target).substr(std::min(mark + 1, target.size()))),
        .range = std::string(request[http::field::range])};
    const std::string bucket = fmt::format("/{}/", kBucket);
    if (!call.key.starts_with(bucket)) return error(404, "NoSuchBucket");
    call.key.erase(0, bucket.size());
    call.number =
        1 + static_cast<std::size_t>(std::ranges::count(calls_, call.method, &FakeS3Call::method));
    calls_.push_back(call);
    if (!is_signed(request, call)) return error(403, "SignatureDoesNotMatch");
    if (script_) reaction = script_(call);
    if (reaction.status != 0) {
      Response response = error(reaction.status, reaction.code, reaction.inside);
      for (const auto& [name, value] : reaction.headers) response.set(name, value);
      return response;
    }
    using What = FakeS3Reaction::What;
    if (reaction.what == What::kClose || reaction.what == What::kSilent) return {};
    if (!reaction.body.empty()) return made(200, reaction.body);
    if (reaction.what == What::kNoRange) call.range.clear();
    return done(call, request.body());
  }

  Response done(const FakeS3Call& call, const std::string& body) {
    const auto& query = call.query;
    if (call.key.empty()) return query.contains("uploads") ? list_uploads() : list(call);
    if (query.contains("uploadId")) return upload(call, body);
    if (call.method == "POST" && query.contains("uploads")) {
      const std::string id = fmt::format("{}#{}", call.key, ++ids_);
      uploads_[id] = {};
      return made(200, fmt::format("<InitiateMultipartUploadResult><UploadId>{}</UploadId>"
                                   "</InitiateMultipartUploadResult>",
                                   id));
    }
    if (call.method == "PUT") {
      objects_[call.key] = {.content = body, .modified = now_};
      return made(200);
    }
    const auto object = objects_.find(call.key);
    if (call.method == "DELETE") {
      if (object != objects_.end()) objects_.erase(object);
      return made(204);
    }
    if (object == objects_.end()) return error(404, "NoSuchKey");
    return get(object->second.content, call.range);
  }

  static Response get(const std::string& content, const std::string& range) {
    if (range.empty()) return made(200, content);
    std::size_t begin = 0;
    std::size_t last = 0;
    if (std::sscanf(range.c_str(), "bytes=%zu-%zu", &begin, &last) != 2) return error(400, "Bad");
    if (begin >= content.size()) return error(416, "InvalidRange");
    last = std::min(last, content.size() - 1);
    Response response = made(206, content.substr(begin, last - begin + 1));
    response.set(http::field::content_range,
                 fmt::format("bytes {}-{}/{}", begin, last, content.size()));
    return response;
  }

  Response upload(const FakeS3Call& call, const std::string& body) {
    const std::string id = call.query.at("uploadId");
    const auto parts = uploads_.find(id);
    if (parts == uploads_.end()) return error(404, "NoSuchUpload");
    if (call.method == "PUT") {
      const auto number = static_cast<unsigned>(std::stoul(call.query.at("partNumber")));
      parts->second[number] = body;
      Response response = made(200);
      response.set(http::field::etag, fmt::format("\"{}\"", number));
      return response;
    }
    if (call.method == "POST") {
      std::string content;
      for (const auto& [number, part] : parts->second) {
        if (body.find(fmt::format("<PartNumber>{}</PartNumber><ETag>\"{}\"</ETag>", number,
                                  number)) == std::string::npos) {
          return error(400, "InvalidPart");
        }
        content += part;
      }
      objects_[call.key] = {.content = content, .modified = now_};
    }
    uploads_.erase(parts);
    return call.method == "POST" ? made(200, "<CompleteMultipartUploadResult/>") : made(204);
  }

  Response list(const FakeS3Call& call) {
    const std::string& prefix = call.query.at("prefix");
    const auto token = call.query.find("continuation-token");
    std::string xml = "<ListBucketResult>";
    std::size_t count = 0;
    std::string next;
    for (const auto& [key, object] : objects_) {
      if (!key.starts_with(prefix) || (token != call.query.end() && key < token->second)) continue;
      if (call.query.contains("delimiter") && key.find('/', prefix.size()) != std::string::npos) {
        continue;
      }
      if (count++ == page_) {
        next = key;
        break;
      }
      xml += fmt::format(
          "<Contents><Key>{}</Key><LastModified>{}</LastModified><Size>{}</Size>"
          "</Contents>",
          key, text_of_time(object.modified), object.content.size());
    }
    xml += fmt::format("<IsTruncated>{}</IsTruncated>", !next.empty());
    if (!next.empty()) {
      xml += fmt::format("<NextContinuationToken>{}</NextContinuationToken>", next);
    }
    return made(200, xml + "</ListBucketResult>");
  }

  Response list_uploads() {
    std::string xml = "<ListMultipartUploadsResult><IsTruncated>false</IsTruncated>";
    for (const auto& [id, parts] : uploads_) {
      xml += fmt::format("<Upload><Key>{}</Key><UploadId>{}</UploadId></Upload>",
                         id.substr(0, id.rfind('#')), id);
    }
    return made(200, xml + "</ListMultipartUploadsResult>");
  }

  std::size_t ids_ = 0;
  asio::io_context context_{1};
  tcp::acceptor acceptor_;
  std::thread thread_;
};

FakeS3::FakeS3() : impl_(std::make_unique<Impl>()) {}
FakeS3::~FakeS3() = default;

S3Options FakeS3::options(const std::string& prefix) const {
  return {.url = {.bucket = kBucket, .prefix = prefix},
          .endpoint = {.secure = false, .host = "127.0.0.1", .port = std::to_string(impl_->port())},
          .ca_file = {},
          .credentials = kKeys,
          .pause_ms = 1,
          .pause_ms_max = 4,
          .silence_ms = 5'000,
          .part_bytes = 1000,
          .ended = {}};
}

void FakeS3::script(Script script) {
  const std::lock_guard lock(impl_->mutex_);
  impl_->script_ = std::move(script);
}

void FakeS3::set_page(std::size_t objects) {
  const std::lock_guard lock(impl_->mutex_);
  impl_->page_ = objects;
}

void FakeS3::set_now(TimestampMs now) {
  const std::lock_guard lock(impl_->mutex_);
  impl_->now_ = now;
}

std::map<std::string, std::string> FakeS3::objects() const {
  const std::lock_guard lock(impl_->mutex_);
  std::map<std::string, std::string> found;
  for (const auto& [key, object] : impl_->objects_) found[key] = object.content;
  return found;
}

void FakeS3::put(const std::string& key, std::string content) {
  const std::lock_guard lock(impl_->mutex_);
  impl_->objects_[key] = {.content = std::move(content), .modified = impl_->now_};
}

void FakeS3::remove(const std::string& key) {
  const std::lock_guard lock(impl_->mutex_);
  impl_->objects_.erase(key);
}

void FakeS3::begin_upload(const std::string& key) {
  const std::lock_guard lock(impl_->mutex_);
  impl_->uploads_[key + "#by hand"] = {};
}

std::size_t FakeS3::uploads() const {
  const std::lock_guard lock(impl_->mutex_);
  return impl_->uploads_.size();
}

std::vector<FakeS3Call> FakeS3::calls() const {
  const std::lock_guard lock(impl_->mutex_);
  return impl_->calls_;
}

}  // namespace halite::test
