#include "storage/tools/backup/s3/s3_url.h"

#include <algorithm>
#include <cstddef>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/bytes/read_number.h"

namespace halite::storage::backup {
namespace {

constexpr std::string_view kScheme = "s3://";
constexpr std::string_view kSecure = "https://";
constexpr std::string_view kPlain = "http://";
// Without the text: it may contain a key.
constexpr std::string_view kNoKeys =
    "an S3 URL must not contain '@' or keys; backup.s3_credentials_file names a file with them";
constexpr std::size_t kBucketBytesMin = 3;
constexpr std::size_t kBucketBytesMax = 63;
constexpr std::size_t kPrefixBytesMax = 512;  // a key has at most 1024

bool is_lower_or_digit(char byte) { return is_lower(byte) || is_digit(byte); }

// Bucket names become names of hosts.
bool is_bucket(std::string_view text) {
  return text.size() >= kBucketBytesMin && text.size() <= kBucketBytesMax &&
         is_lower_or_digit(text.front()) && is_lower_or_digit(text.back()) &&
         !text.contains("..") && std::ranges::all_of(text, [](char byte) {
           return is_lower_or_digit(byte) || byte == '-' || byte == '.';
         });
}

// Servers disagree about "//", "." and ".." in keys.
bool is_prefix(std::string_view text) {
  if (text.size() > kPrefixBytesMax) return false;
  const auto is_plain = [](char byte) {
    return byte > ' ' && byte <= '~' && !std::string_view("?#%\\").contains(byte);
  };
  if (!std::ranges::all_of(text, is_plain)) return false;
  while (!text.empty()) {
    const std::size_t slash = std::min(text.find('/'), text.size());
    const std::string_view part = text.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    text.remove_prefix(std::min(slash + 1, text.size()));
  }
  return true;
}

bool is_port(std::string_view text) {
  std::uint32_t port = 0;
  return text.size() <= 5 && read_number(text, port) && port > 0 && port <= 65535;
}

}  // namespace

std::string S3Url::key(std::string_view name) const {
  return prefix.empty() ? std::string(name) : fmt::format("{}/{}", prefix, name);
}

std::string S3Url::text() const {
  return fmt::format("{}{}{}{}", kScheme, bucket, prefix.empty() ? "" : "/", prefix);
}

bool is_s3_url(std::string_view text) { return text.starts_with(kScheme); }

Result<S3Url> parse_s3_url(std::string_view text) {
  const auto bad = [text](std::string_view why) {
    return fail(Errc::kInvalidArgument,
                fmt::format("bad URL \"{}\": {}; expected s3://BUCKET[/PREFIX]", text, why));
  };
  if (!is_s3_url(text)) return bad("no s3://");
  const std::string_view rest = text.substr(kScheme.size());
  const std::size_t slash = std::min(rest.find('/'), rest.size());
  if (rest.substr(0, slash).find('@') != std::string_view::npos) {
    return fail(Errc::kInvalidArgument, std::string(kNoKeys));
  }
  S3Url url{.bucket = std::string(rest.substr(0, slash)), .prefix = {}};
  if (!is_bucket(url.bucket)) {
    return bad(
        "a bucket's name has 3 to 63 lower-case letters, digits, '-' and '.', and begins and ends "
        "with a letter or digit");
  }
  if (slash < rest.size()) url.prefix = rest.substr(slash + 1);
  if (url.prefix.ends_with('/')) url.prefix.pop_back();
  if (!is_prefix(url.prefix)) {
    return bad(
        "a prefix has at most 512 printable ASCII characters without ?, #, % and \\, and no part "
        "of it is empty, \".\" or \"..\"");
  }
  return url;
}

std::string S3Endpoint::authority() const {
  const std::string name = host.contains(':') ? fmt::format("[{}]", host) : host;
  return port == (secure ? "443" : "80") ? name : fmt::format("{}:{}", name, port);
}

Result<S3Endpoint> parse_s3_endpoint(std::string_view text) {
  const auto bad = [text](std::string_view why) {
    return fail(Errc::kInvalidArgument,
                fmt::format("bad endpoint \"{}\": {}; expected https://HOST[:PORT], or http:// for "
                            "a connection without encryption",
                            text, why));
  };
  S3Endpoint endpoint;
  endpoint.secure = text.starts_with(kSecure);
  if (!endpoint.secure && !text.starts_with(kPlain)) return bad("no https://");
  std::string_view rest = text.substr((endpoint.secure ? kSecure : kPlain).size());
  if (rest.ends_with('/')) rest.remove_suffix(1);
  if (rest.find('@') != std::string_view::npos) {
    return fail(Errc::kInvalidArgument, std::string(kNoKeys));
  }
  if (rest.find_first_of("/?# ") != std::string_view::npos) {
    return bad("it has more than a host and a port");
  }
  const std::size_t bracket = rest.starts_with('[') ? rest.find(']') : 0;
  if (bracket == std::string_view::npos) return bad("no ]");
  const std::size_t colon = rest.find(':', bracket);
  endpoint.host = rest.substr(0, colon);
  if (bracket != 0) endpoint.host = rest.substr(1, bracket - 1);
  endpoint.port = endpoint.secure ? "443" : "80";
  if (colon != std::string_view::npos) endpoint.port = rest.substr(colon + 1);
  if (endpoint.host.empty()) return bad("no host");
  if (!is_port(endpoint.port)) return bad("no port");
  return endpoint;
}

}  // namespace halite::storage::backup
