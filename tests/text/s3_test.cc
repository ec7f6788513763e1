// Runs tests/text/s3/*.s3: what goes to S3 stores and comes from them.
//
// A line asks, the indented lines under it answer; '#' comments. HALITE_UPDATE=1 writes the answers
// that the code gives: read that diff like code. "\n" and "\r" stand for line ends.
//
//   sign SERVICE METHOD PATH QUERY BODY HEADERS   the signature; "-" is an empty QUERY or BODY, "|"
//                                                 stands between two headers. The keys are those of
//                                                 AWS' examples for the service.
//   url TEXT, endpoint TEXT                       how they are read
//   credentials PROFILE TEXT                      the section of a file
//   error XML, page XML, uploads XML, id XML      what is found in an answer
#include <filesystem>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "storage/tools/backup/s3/credentials.h"
#include "storage/tools/backup/s3/s3_answers.h"
#include "storage/tools/backup/s3/s3_url.h"
#include "storage/tools/backup/s3/sigv4.h"
#include "tests/text/answers_file.h"

namespace halite::storage::backup {
namespace {

constexpr TimestampMs kMay2013 = 1'369'353'600'000;     // 20130524T000000Z
constexpr TimestampMs kAugust2015 = 1'440'938'160'000;  // 20150830T123600Z

// The next word; the rest is left.
std::string_view word(std::string_view& text) {
  const std::size_t blank = std::min(text.find(' '), text.size());
  const std::string_view first = text.substr(0, blank);
  text.remove_prefix(std::min(blank + 1, text.size()));
  return first;
}

std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const std::string_view pair = text.substr(at, 2);
    const bool escape = pair == "\\n" || pair == "\\r";
    plain += escape ? (pair == "\\n" ? '\n' : '\r') : text[at];
    at += escape ? 1 : 0;
  }
  return plain;
}

std::map<std::string, std::string> pairs(std::string_view text, char between, char inside) {
  std::map<std::string, std::string> found;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(between), text.size());
    const std::string_view one = text.substr(0, end);
    const std::size_t middle = std::min(one.find(inside), one.size());
    found[std::string(one.substr(0, middle))] = one.substr(std::min(middle + 1, one.size()));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return found;
}

Lines sign_answer(std::string_view question) {
  const bool s3 = word(question) == "s3";
  const std::string method(word(question));
  RequestToSign request{.method = method,
                        .path = std::string(word(question)),
                        .query = {},
                        .headers = {},
                        .payload_sha256 = {}};
  const std::string_view query = word(question);
  if (query != "-") request.query = pairs(query, '&', '=');
  const std::string_view body = word(question);  // "-" or "welcome", that of the examples
  request.payload_sha256 = sha256_hex(body == "-" ? "" : "Welcome to Amazon S3.");
  request.headers = pairs(question, '|', ':');
  if (s3) request.headers["x-amz-content-sha256"] = request.payload_sha256;
  const S3Credentials keys =
      s3 ? S3Credentials{.key_id = "AKIAIOSFODNN7EXAMPLE",
                         .secret = "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
                         .token = {}}
         : S3Credentials{.key_id = "AKIDEXAMPLE",
                         .secret = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY",
                         .token = {}};
  const SigningScope scope{
      .region = "us-east-1", .service = s3 ? "s3" : "service", .now = s3 ? kMay2013 : kAugust2015};
  request.headers["x-amz-date"] = amz_date(scope.now);
  const std::string made = sign(request, keys, scope);
  return {made.substr(made.find("SignedHeaders="))};
}

Lines url_answer(std::string_view text) {
  const Result<S3Url> url = parse_s3_url(text);
  if (!url) return {"error: " + url.error().message};
  return {fmt::format("bucket {}, prefix \"{}\", a key {}", url->bucket, url->prefix,
                      url->key("files/x"))};
}

Lines endpoint_answer(std::string_view text) {
  const Result<S3Endpoint> endpoint = parse_s3_endpoint(text);
  if (!endpoint) return {"error: " + endpoint.error().message};
  return {fmt::format("{} host {} port {}, as {}", endpoint->secure ? "https" : "http",
                      endpoint->host, endpoint->port, endpoint->authority())};
}

Lines credentials_answer(std::string_view question) {
  const std::string_view profile = word(question);
  const Result<S3Credentials> found = parse_credentials(unescaped(question), profile);
  if (!found) return {"error: " + found.error().message};
  return {fmt::format("id \"{}\", secret \"{}\", token \"{}\"", found->key_id, found->secret,
                      found->token)};
}

Lines error_answer(std::string_view xml) {
  const S3Error error = parse_s3_error(unescaped(xml));
  return {fmt::format("code \"{}\", message \"{}\", region \"{}\", endpoint \"{}\"", error.code,
                      error.message, error.region, error.endpoint)};
}

Lines page_answer(std::string_view xml) {
  const Result<ObjectPage> page = parse_object_page(unescaped(xml));
  if (!page) return {"error: " + page.error().message};
  Lines lines;
  for (const ListedObject& object : page->objects) {
    lines.push_back(fmt::format("{}: {} bytes, {} ms", object.key, object.bytes, object.modified));
  }
  lines.push_back(page->next.empty() ? "the last page" : "next: " + page->next);
  return lines;
}

Lines uploads_answer(std::string_view xml) {
  const Result<UploadPage> page = parse_upload_page(unescaped(xml));
  if (!page) return {"error: " + page.error().message};
  Lines lines;
  for (const UnfinishedUpload& upload : page->uploads) {
    lines.push_back(fmt::format("{}: {}", upload.key, upload.id));
  }
  lines.push_back(page->more ? fmt::format("next: {} {}", page->next.key, page->next.id)
                             : "the last page");
  return lines;
}

Lines id_answer(std::string_view xml) {
  const Result<std::string> id = parse_upload_id(unescaped(xml));
  return {id ? *id : "error: " + id.error().message};
}

Lines answer(std::string_view question) {
  static const std::map<std::string_view, std::function<Lines(std::string_view)>> kAnswers = {
      {"sign", sign_answer},         {"url", url_answer},
      {"endpoint", endpoint_answer}, {"credentials", credentials_answer},
      {"error", error_answer},       {"page", page_answer},
      {"uploads", uploads_answer},   {"id", id_answer}};
  const auto found = kAnswers.find(word(question));
  if (found == kAnswers.end()) throw std::runtime_error("no such question");
  return found->second(question);
}

// The file as it should be.
Lines answered(const Lines& lines) {
  Lines out;
  for (const std::string& line : lines) {
    if (is_answer(line)) continue;
    out.push_back(line);
    if (line.empty() || line.starts_with('#')) continue;
    for (const std::string& text : answer(line)) out.push_back("  " + text);
  }
  return out;
}

class S3File : public testing::TestWithParam<std::filesystem::path> {};

TEST_P(S3File, SaysWhatIsSentAndFound) { check_answers_file(GetParam(), answered); }

INSTANTIATE_TEST_SUITE_P(S3, S3File, testing::ValuesIn(answers_files("s3", ".s3")),
                         [](const auto& test) { return test.param.stem().string(); });

}  // namespace
}  // namespace halite::storage::backup
