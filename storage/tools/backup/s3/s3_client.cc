#include "storage/tools/backup/s3/s3_client.h"

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include "storage/tools/backup/s3/s3_errors.h"
#include "storage/tools/backup/s3/sigv4.h"

namespace halite::storage::backup {
namespace {

constexpr std::size_t kListedMax = 10'000'000;
constexpr std::size_t kEmptyPagesMax = 1000;  // of a list; a page may have other folders only
constexpr std::int64_t kSleepMs = 50;         // between two looks at `ended`

bool is_success(const HttpAnswer& answer) { return answer.status / 100 == 2; }

bool is_retryable(const Error& error) {
  return error.code == Errc::kUnavailable || error.code == Errc::kTimeout;
}

// Sees that a list ends whatever the server answers.
class Pages {
 public:
  // A page of so many items, before which `next` is not known. kUnsupported: the list does not end.
  Result<void> add(std::size_t items, std::string next) {
    items_ += items;
    if (items == 0) ++empty_;
    if (next == last_ || empty_ > kEmptyPagesMax) {
      return fail(Errc::kUnsupported, "the server's list does not end");
    }
    last_ = std::move(next);
    return {};
  }
  [[nodiscard]] bool is_full() const { return items_ > kListedMax; }

 private:
  std::string last_;
  std::size_t items_ = 0;
  std::size_t empty_ = 0;
};

bool has_completed(const HttpAnswer& answer) { return is_completed_upload(answer.body); }

}  // namespace

S3Endpoint server_of(const S3Options& options) {
  S3Endpoint server = options.endpoint;
  if (options.bucket_in_host) server.host = fmt::format("{}.{}", options.url.bucket, server.host);
  return server;
}

Result<std::unique_ptr<S3Client>> S3Client::make(S3Options options) {
  TRY(std::unique_ptr<HttpConnection> connection,
      HttpConnection::make({.server = server_of(options),
                            .ca_file = options.ca_file,
                            .silence_ms = options.silence_ms,
                            .ended = options.ended}));
  return std::unique_ptr<S3Client>(new S3Client(std::move(options), std::move(connection)));
}

std::string S3Client::name_of(const Call& call) const {
  return fmt::format("{} s3://{}/{}", call.method, options_.url.bucket, call.key);
}

HttpRequest S3Client::request_of(const Call& call) const {
  RequestToSign signing{.method = call.method,
                        .path = options_.bucket_in_host
                                    ? "/" + call.key
                                    : fmt::format("/{}/{}", options_.url.bucket, call.key),
                        .query = call.query,
                        .headers = {},
                        .payload_sha256 = sha256_hex(call.body)};
  const TimestampMs now = options_.clock->now_ms();
  signing.headers = {{"host", server_of(options_).authority()},
                     {"x-amz-content-sha256", signing.payload_sha256},
                     {"x-amz-date", amz_date(now)}};
  if (!call.range.empty()) signing.headers["range"] = call.range;
  if (!options_.credentials.token.empty()) {
    signing.headers["x-amz-security-token"] = options_.credentials.token;
  }
  HttpRequest request{.method = call.method,
                      .target = encoded_path(signing.path),
                      .headers = signing.headers,
                      .body = call.body,
                      .answer_bytes_max = call.answer_bytes_max,
                      .last = call.last};
  if (!call.query.empty()) request.target += "?" + encoded_query(call.query);
  request.headers["authorization"] =
      sign(signing, options_.credentials, {.region = options_.region, .now = now});
  return request;
}

Result<void> S3Client::pause(std::uint32_t attempts) const {
  const std::uint32_t doublings = std::min(attempts - 1, 16U);
  const auto whole =
      std::min<std::int64_t>(std::int64_t{options_.pause_ms} << doublings, options_.pause_ms_max);
  // Many servers that fail at the same time do not try again at the same time.
  std::int64_t left = whole / 2 + options_.clock->elapsed_us() % (whole / 2 + 1);
  for (; left > 0; left -= kSleepMs) {
    if (options_.ended && options_.ended()) return fail(Errc::kCancelled, "stopped");
    std::this_thread::sleep_for(std::chrono::milliseconds(std::min(left, kSleepMs)));
  }
  return {};
}

// Every request may be repeated: an object's content does not change, and complete() looks.
Result<HttpAnswer> S3Client::call(const Call& call) {
  Error error;
  for (std::uint32_t attempts = 1;; ++attempts) {
    // Signed anew: a signature is valid for minutes.
    Result<HttpAnswer> answer = connection_->exchange(request_of(call));
    if (answer) {
      answered_ = true;
      const bool accepted = is_success(*answer) && (!call.accepts || call.accepts(*answer));
      if (accepted) return answer;
      error = to_error(*answer, name_of(call), options_);
      if (!is_retryable(*answer)) return std::unexpected(std::move(error));
    } else {
      error = std::move(answer).error();
      error.message = fmt::format("{}: {}", name_of(call), error.message);
      if (!is_retryable(error)) return std::unexpected(std::move(error));
      // The server may close an idle connection at any time.
      if (connection_->was_reused() && attempts == 1 && !call.last) continue;
    }
    const std::uint32_t most =
        answered_ ? options_.attempts_max : options_.attempts_before_answer_max;
    if (call.last || attempts >= most) {
      if (attempts > 1) error.message += fmt::format(", also after {} attempts", attempts);
      return std::unexpected(std::move(error));
    }
    TRY_VOID(pause(attempts));
  }
}

Result<std::vector<ListedObject>> S3Client::list(const std::string& prefix, bool flat) {
  std::vector<ListedObject> found;
  Call listing{.method = "GET", .key = {}, .query = {{"list-type", "2"}, {"prefix", prefix}}};
  if (flat) listing.query["delimiter"] = "/";
  Pages pages;
  while (true) {
    TRY(const HttpAnswer answer, call(listing));
    TRY(ObjectPage page, parse_object_page(answer.body));
    const std::size_t items = page.objects.size();
    // Not every server looks at the prefix and the delimiter.
    std::erase_if(page.objects, [&](const ListedObject& object) {
      return !object.key.starts_with(prefix) ||
             (flat && object.key.find('/', prefix.size()) != std::string::npos);
    });
    std::ranges::move(page.objects, std::back_inserter(found));
    if (page.next.empty()) break;
    TRY_VOID(pages.add(items, page.next));
    if (pages.is_full()) {
      return fail(Errc::kTooLarge, fmt::format("{}: more than {} objects begin with {}",
                                               name_of(listing), kListedMax, prefix));
    }
    listing.query["continuation-token"] = std::move(page.next);
  }
  std::ranges::sort(found, {}, &ListedObject::key);
  return found;
}

Result<Bytes> S3Client::read(const std::string& key, ByteRange range, std::uint64_t size) {
  const std::uint64_t wanted = range.end - range.begin;
  Call reading{.method = "GET", .key = key};
  // An empty object has no range.
  if (size > 0) reading.range = fmt::format("bytes={}-{}", range.begin, range.end - 1);
  reading.answer_bytes_max = std::max(wanted, reading.answer_bytes_max);
  const bool is_whole = wanted == size;
  const auto other_size = [&](std::string_view what) {
    return fail(Errc::kCorruption, fmt::format("s3://{}/{} has {}; {} bytes were expected",
                                               options_.url.bucket, key, what, size));
  };
  Result<HttpAnswer> answer = call(reading);
  if (!answer && (answer.error().code == Errc::kTooLarge ||
                  (is_whole && answer.error().code == Errc::kUnsupported))) {
    return other_size("more bytes");
  }
  if (!answer && answer.error().code == Errc::kCorruption) return other_size("fewer bytes");
  TRY(HttpAnswer got, std::move(answer));
  if (got.status != 206 && !is_whole) {
    return fail(Errc::kUnsupported,
                fmt::format("{}: the server answers no ranges", name_of(reading)));
  }
  if (got.body.size() != wanted) {
    return other_size(fmt::format("{} bytes or more", got.body.size()));
  }
  if (got.status == 206) {
    const std::string which = fmt::format("bytes {}-{}/{}", range.begin, range.end - 1, size);
    if (got.header("content-range") != which) {
      return other_size(fmt::format("the range \"{}\"", got.header("content-range")));
    }
  }
  return std::move(got.body);
}

Result<void> S3Client::put(const std::string& key, BytesView bytes) {
  TRY_VOID(call({.method = "PUT", .key = key, .body = bytes}));
  return {};
}

Result<void> S3Client::remove(const std::string& key) {
  const Result<HttpAnswer> removed = call({.method = "DELETE", .key = key});
  if (removed || removed.error().code == Errc::kNotFound) return {};
  return std::unexpected(removed.error());
}

Result<void> S3Client::put_last(const std::string& key, BytesView bytes) {
  TRY_VOID(call({.method = "PUT", .key = key, .body = bytes, .last = true}));
  return {};
}

Result<void> S3Client::remove_last(const std::string& key) {
  TRY_VOID(call({.method = "DELETE", .key = key, .last = true}));
  return {};
}

Result<std::string> S3Client::begin_upload(const std::string& key) {
  TRY(const HttpAnswer answer, call({.method = "POST", .key = key, .query = {{"uploads", ""}}}));
  return parse_upload_id(answer.body);
}

Result<std::string> S3Client::put_part(const UnfinishedUpload& upload, std::uint32_t number,
                                       BytesView bytes) {
  const Call putting{.method = "PUT",
                     .key = upload.key,
                     .query = {{"partNumber", std::to_string(number)}, {"uploadId", upload.id}},
                     .body = bytes};
  TRY(const HttpAnswer answer, call(putting));
  std::string etag = answer.header("etag");
  if (!etag.empty()) return etag;
  return fail(Errc::kUnavailable, fmt::format("{}: the answer has no ETag", name_of(putting)));
}

Result<void> S3Client::complete(const UnfinishedUpload& upload,
                                const std::vector<std::string>& etags, std::uint64_t size) {
  const std::string xml = completion_xml(etags);
  const Result<HttpAnswer> answer = call({.method = "POST",
                                          .key = upload.key,
                                          .query = {{"uploadId", upload.id}},
                                          .body = xml,
                                          .accepts = has_completed});
  if (answer) return {};
  if (answer.error().code != Errc::kNotFound) return std::unexpected(answer.error());
  // Its upload is gone if the answer to an earlier attempt was lost.
  TRY(const std::vector<ListedObject> found, list(upload.key, true));
  const auto is_it = [&](const ListedObject& object) {
    return object.key == upload.key && object.bytes == size;
  };
  if (std::ranges::any_of(found, is_it)) return {};
  return std::unexpected(answer.error());
}

Result<void> S3Client::remove_upload(const UnfinishedUpload& upload) {
  const Result<HttpAnswer> answer =
      call({.method = "DELETE", .key = upload.key, .query = {{"uploadId", upload.id}}});
  if (answer || answer.error().code == Errc::kNotFound) return {};
  return std::unexpected(answer.error());
}

Result<void> S3Client::remove_upload_last(const UnfinishedUpload& upload) {
  TRY_VOID(call(
      {.method = "DELETE", .key = upload.key, .query = {{"uploadId", upload.id}}, .last = true}));
  return {};
}

Result<std::vector<UnfinishedUpload>> S3Client::unfinished_uploads(const std::string& prefix) {
  std::vector<UnfinishedUpload> found;
  Call listing{.method = "GET", .key = {}, .query = {{"uploads", ""}, {"prefix", prefix}}};
  Pages pages;
  while (true) {
    TRY(const HttpAnswer answer, call(listing));
    TRY(UploadPage page, parse_upload_page(answer.body));
    const std::size_t items = page.uploads.size();
    // Not every server looks at the prefix.
    std::erase_if(page.uploads, [&prefix](const UnfinishedUpload& upload) {
      return !upload.key.starts_with(prefix);
    });
    std::ranges::move(page.uploads, std::back_inserter(found));
    if (!page.more) return found;
    TRY_VOID(pages.add(items, page.next.key + "\n" + page.next.id));
    if (pages.is_full()) return found;
    listing.query["key-marker"] = page.next.key;
    listing.query["upload-id-marker"] = page.next.id;
  }
}

}  // namespace halite::storage::backup
