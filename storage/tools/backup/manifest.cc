#include "storage/tools/backup/manifest.h"

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string_view>
#include <utility>

#include <boost/json.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "common/json/json_value.h"
#include "storage/tools/backup/content_hash.h"

namespace halite::storage::backup {
namespace {

constexpr std::int64_t kFormat = 1;
constexpr std::string_view kHashLine = "\nxxh3 ";
constexpr std::size_t kHashDigits = 32;

std::unexpected<Error> damaged(std::string_view what) {
  return fail(Errc::kCorruption, fmt::format("the manifest of a backup is damaged: {}", what));
}

// Whether the path stays inside its directory.
bool is_inside(std::string_view path) {
  if (path.empty() || path.front() == '/' || path.back() == '/') return false;
  while (!path.empty()) {
    const std::size_t slash = path.find('/');
    const std::string_view part = path.substr(0, slash);
    if (part.empty() || part == "." || part == "..") return false;
    if (slash == std::string_view::npos) break;
    path.remove_prefix(slash + 1);
  }
  return true;
}

bool is_hash(std::string_view text) {
  return text.size() == kHashDigits && std::ranges::all_of(text, [](char digit) {
           return hex_digit(digit) >= 0 && !is_upper(digit);
         });
}

Result<StoredFile> read_file(const boost::json::value& value) {
  if (!value.is_object()) return damaged("a file is not an object");
  const boost::json::object& object = value.get_object();
  const boost::json::value* const path = object.if_contains("path");
  const boost::json::value* const hash = object.if_contains("xxh3");
  const boost::json::value* const bytes = object.if_contains("bytes");
  if (path == nullptr || !path->is_string() || hash == nullptr || !hash->is_string() ||
      bytes == nullptr) {
    return damaged("a file lacks a field");
  }
  boost::system::error_code error;
  StoredFile file{.path = std::string(path->get_string()),
                  .content = {.hash = std::string(hash->get_string()),
                              .bytes = bytes->to_number<std::uint64_t>(error)}};
  if (const boost::json::value* const what = object.if_contains("damaged")) {
    if (!what->is_array()) return damaged("what is wrong with a file");
    for (const boost::json::value& one : what->get_array()) {
      if (!one.is_string()) return damaged("what is wrong with a file");
      file.damaged.emplace_back(one.get_string());
    }
  }
  if (error || !is_hash(file.content.hash)) return damaged("what a file holds");
  if (!is_inside(file.path)) return damaged("the path " + file.path);
  return file;
}

}  // namespace

std::string ContentId::name() const { return fmt::format("{}-{}", hash, bytes); }

bool ContentId::is_name(std::string_view text) {
  if (text.size() < kHashDigits + 2 || text[kHashDigits] != '-') return false;
  const std::string_view length = text.substr(kHashDigits + 1);
  return is_hash(text.substr(0, kHashDigits)) && count_digits(length) == length.size();
}

std::uint64_t Manifest::bytes() const {
  std::uint64_t sum = 0;
  for (const StoredFile& file : files) sum += file.content.bytes;
  return sum;
}

Bytes Manifest::to_bytes() const {
  boost::json::object object;
  object["format"] = kFormat;
  object["made_ms"] = made_ms;
  boost::json::array& list = object["files"].emplace_array();
  for (const StoredFile& file : files) {
    boost::json::object& one = list.emplace_back(boost::json::object()).get_object();
    one["path"] = file.path;
    one["bytes"] = file.content.bytes;
    one["xxh3"] = file.content.hash;
    if (file.damaged.empty()) continue;
    boost::json::array& damages = one["damaged"].emplace_array();
    for (const std::string& what : file.damaged) damages.emplace_back(what);
  }
  Bytes bytes = boost::json::serialize(object);
  const std::string hash = hash_of(bytes);
  return bytes + Bytes(kHashLine) + hash + "\n";
}

Result<Manifest> Manifest::from_bytes(BytesView bytes) {
  const std::size_t tail = kHashLine.size() + kHashDigits + 1;
  if (bytes.size() < tail) return damaged("it is truncated");
  const BytesView body = bytes.substr(0, bytes.size() - tail);
  if (bytes.substr(body.size()) != Bytes(kHashLine) + hash_of(body) + "\n") {
    return damaged("its checksum does not match");
  }
  boost::system::error_code error;
  const boost::json::value parsed = parse_json_value(body, error);
  if (error || !parsed.is_object()) return damaged("it is not a JSON object");
  const boost::json::object& object = parsed.get_object();
  const boost::json::value* const format = object.if_contains("format");
  if (format == nullptr || !format->is_int64()) return damaged("it has no format number");
  if (format->get_int64() != kFormat) {
    return fail(Errc::kUnsupported,
                fmt::format("the backup has format {}; this version reads format {}",
                            format->get_int64(), kFormat));
  }
  const boost::json::value* const made = object.if_contains("made_ms");
  const boost::json::value* const list = object.if_contains("files");
  if (made == nullptr || !made->is_int64() || list == nullptr || !list->is_array()) {
    return damaged("it lacks the time or the files");
  }
  Manifest manifest;
  manifest.made_ms = made->get_int64();
  for (const boost::json::value& value : list->get_array()) {
    TRY(StoredFile file, read_file(value));
    manifest.files.push_back(std::move(file));
  }
  return manifest;
}

std::string manifest_name(TimestampMs made_ms) {
  return fmt::format("{:%Y%m%dT%H%M%S}.{:03}Z{}", fmt::gmtime(made_ms / 1000), made_ms % 1000,
                     kManifestEnd);
}

}  // namespace halite::storage::backup
