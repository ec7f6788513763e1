#include "app/tools/backup_place.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/ascii.h"
#include "storage/tools/backup/directory_store.h"
#include "storage/tools/backup/s3/credentials.h"
#include "storage/tools/backup/s3/s3_store.h"
#include "storage/tools/backup/s3/s3_url.h"

namespace halite::app {
namespace {

using storage::backup::S3Options;

constexpr std::string_view kDefaultRegion = "us-east-1";
constexpr std::size_t kRegionBytesMax = 64;

const char* variable(const char* name) {
  return std::getenv(name);  // NOLINT(concurrency-mt-unsafe)
}

// The setting, or the first variable of the environment that has a value.
std::string setting_or(const std::string& setting, std::initializer_list<const char*> names) {
  if (!setting.empty()) return setting;
  for (const char* const name : names) {
    const char* const value = variable(name);
    if (value != nullptr && *value != '\0') return value;
  }
  return {};
}

std::string amazon_host(std::string_view region) {
  return fmt::format("s3.{}.amazonaws.com{}", region, region.starts_with("cn-") ? ".cn" : "");
}

// Without credentials.
Result<S3Options> s3_options(const std::string& place, const S3Settings& settings) {
  S3Options options;
  TRY(options.url, storage::backup::parse_s3_url(place));
  options.region = setting_or(settings.region, {"AWS_REGION", "AWS_DEFAULT_REGION"});
  if (options.region.empty()) options.region = kDefaultRegion;
  const bool legal = options.region.size() <= kRegionBytesMax &&
                     std::ranges::all_of(options.region, [](char byte) {
                       return is_letter_or_digit(byte) || byte == '-';
                     });
  if (!legal) {
    return fail(Errc::kInvalidArgument,
                fmt::format("\"{}\" is no region: it has other characters than letters, digits and "
                            "'-'; see backup.s3_region",
                            options.region));
  }
  const std::string endpoint =
      setting_or(settings.endpoint, {"AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"});
  if (endpoint.empty()) {
    options.endpoint = {.secure = true, .host = amazon_host(options.region), .port = "443"};
  } else {
    Result<storage::backup::S3Endpoint> parsed = storage::backup::parse_s3_endpoint(endpoint);
    if (!parsed) parsed.error().message += "; see backup.s3_endpoint";
    TRY(options.endpoint, std::move(parsed));
  }
  // A certificate for *.HOST is not valid for a bucket with a dot.
  options.bucket_in_host = settings.addressing == S3Addressing::kHost ||
                           (settings.addressing == S3Addressing::kAuto &&
                            options.url.bucket.find('.') == std::string::npos &&
                            options.endpoint.host.ends_with(".amazonaws.com"));
  options.ca_file = settings.ca_file;
  return options;
}

// Whether a directory is in another one or the same, perhaps through links.
Result<bool> is_inside(const std::string& inner_dir, const std::string& outer_dir) {
  std::error_code error;
  const std::filesystem::path inner = std::filesystem::weakly_canonical(
      std::filesystem::absolute(inner_dir).lexically_normal(), error);
  if (error) return fail(Errc::kUnavailable, inner_dir + ": " + error.message());
  const std::filesystem::path outer = std::filesystem::weakly_canonical(
      std::filesystem::absolute(outer_dir).lexically_normal(), error);
  if (error) return fail(Errc::kUnavailable, outer_dir + ": " + error.message());
  return std::ranges::mismatch(inner, outer).in2 == outer.end();
}

}  // namespace

Result<void> check_is_path(const std::string& text) {
  if (text.empty()) return fail(Errc::kInvalidArgument, "the name of a directory is empty");
  const std::size_t colon = text.find(":/");
  if (colon == std::string::npos) return {};
  const bool scheme = std::ranges::all_of(text.substr(0, colon), is_letter_or_digit);
  if (!scheme) return {};
  return fail(
      Errc::kInvalidArgument,
      fmt::format("{0} is a URL, where a directory is expected; write ./{0} for a directory "
                  "of this name",
                  text));
}

std::string normal_dir(const std::string& path) {
  const std::filesystem::path normal =
      std::filesystem::absolute(path).lexically_normal() / std::filesystem::path();
  return normal.parent_path().string();
}

bool is_remote_place(const std::string& place) { return storage::backup::is_s3_url(place); }

Result<void> check_backup_place(const std::string& place, const S3Settings& settings,
                                const std::string& data_dir) {
  if (!is_remote_place(place)) {
    TRY_VOID(check_is_path(place));
    TRY(const bool inside, is_inside(place, data_dir));
    if (!inside) return {};
    return fail(
        Errc::kConflict,
        fmt::format("{} is inside the data directory {}: choose another directory for backups",
                    place, data_dir));
  }
  TRY_VOID(s3_options(place, settings));
  return {};
}

Result<void> check_restore_place(const std::string& place, const std::string& data_dir) {
  if (is_remote_place(place)) return {};
  TRY_VOID(check_is_path(place));
  TRY(const bool inside, is_inside(data_dir, place));
  if (!inside) return {};
  return fail(Errc::kConflict,
              fmt::format("{} is inside the backup repository {}: choose another data directory",
                          data_dir, place));
}

Result<std::unique_ptr<storage::backup::BackupStore>> open_backup_store(const BackupPlace& place) {
  if (!is_remote_place(place.place)) {
    TRY_VOID(check_is_path(place.place));
    return std::make_unique<storage::backup::DirectoryStore>(place.files, normal_dir(place.place));
  }
  TRY(S3Options options, s3_options(place.place, place.s3));
  TRY(options.credentials,
      storage::backup::find_credentials(
          {.file = place.s3.credentials_file, .profile = place.s3.profile, .variable = variable}));
  options.ended = place.ended;
  return storage::backup::S3Store::make(std::move(options));
}

}  // namespace halite::app
