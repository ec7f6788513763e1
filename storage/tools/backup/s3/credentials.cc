#include "storage/tools/backup/s3/credentials.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>
#include <optional>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "common/bytes/ascii.h"

namespace halite::storage::backup {
namespace {

constexpr std::size_t kFileBytesMax = 1 << 20;

// The keys go into headers.
bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](char byte) { return byte > ' ' && byte <= '~'; });
}

Result<S3Credentials> checked(S3Credentials credentials, std::string_view where) {
  for (const auto& [name, value, needed] :
       {std::tuple{"access key id", &credentials.key_id, true},
        std::tuple{"secret access key", &credentials.secret, true},
        std::tuple{"session token", &credentials.token, false}}) {
    if (value->empty() && needed) {
      return fail(Errc::kInvalidArgument, fmt::format("{} has no {}", where, name));
    }
    if (!is_printable(*value)) {
      return fail(Errc::kInvalidArgument,
                  fmt::format("the {} in {} has characters that no such key has", name, where));
    }
  }
  return credentials;
}

// The text; nothing if the file does not exist.
Result<std::optional<std::string>> read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) {
    const int error = errno;
    if (error == ENOENT || error == ENOTDIR) return std::nullopt;
    return fail(Errc::kInvalidArgument,
                fmt::format("cannot read {}: {}", path, std::strerror(error)));
  }
  std::string text(kFileBytesMax + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (in.bad()) return fail(Errc::kInvalidArgument, "cannot read " + path);
  text.resize(static_cast<std::size_t>(in.gcount()));
  if (text.size() > kFileBytesMax) {
    return fail(Errc::kInvalidArgument, path + " is too large for a file of credentials");
  }
  return text;
}

Result<S3Credentials> from_text(const std::string& path, std::string_view text,
                                std::string_view profile) {
  Result<S3Credentials> found = parse_credentials(text, profile);
  if (found) return checked(*std::move(found), fmt::format("[{}] of {}", profile, path));
  found.error().message = fmt::format("{}: {}", path, found.error().message);
  return found;
}

}  // namespace

Result<S3Credentials> parse_credentials(std::string_view text, std::string_view profile) {
  S3Credentials found;
  bool inside = false;
  bool any = false;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end), kCBlanks);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    if (line.front() == '[') {
      if (line.back() != ']') {
        return fail(Errc::kInvalidArgument, fmt::format("line {}: no ] after [", number));
      }
      inside = trim(line.substr(1, line.size() - 2)) == profile;
      any = any || inside;
      continue;
    }
    const std::size_t equals = line.find('=');
    if (equals == std::string_view::npos) {
      return fail(Errc::kInvalidArgument,
                  fmt::format("line {} is not of the form NAME = VALUE", number));
    }
    if (!inside) continue;
    const std::string name = to_lower(trim(line.substr(0, equals)));
    const std::string_view value = trim(line.substr(equals + 1));
    if (name == "aws_access_key_id") found.key_id = value;
    if (name == "aws_secret_access_key") found.secret = value;
    if (name == "aws_session_token") found.token = value;
  }
  if (!any) return fail(Errc::kNotFound, fmt::format("there is no section [{}]", profile));
  return found;
}

Result<S3Credentials> find_credentials(const CredentialSource& source) {
  const auto variable = [&source](const char* name) {
    const char* const value = source.variable ? source.variable(name) : nullptr;
    return std::string(value != nullptr ? value : "");
  };
  std::string profile = source.profile.empty() ? variable("AWS_PROFILE") : source.profile;
  if (profile.empty()) profile = "default";
  if (!source.file.empty()) {
    TRY(const std::optional<std::string> text, read_text(source.file));
    if (!text) return fail(Errc::kUnauthenticated, source.file + " does not exist");
    return from_text(source.file, *text, profile);
  }
  if (source.profile.empty() && !variable("AWS_ACCESS_KEY_ID").empty()) {
    return checked({.key_id = variable("AWS_ACCESS_KEY_ID"),
                    .secret = variable("AWS_SECRET_ACCESS_KEY"),
                    .token = variable("AWS_SESSION_TOKEN")},
                   "the environment (AWS_ACCESS_KEY_ID)");
  }
  std::string path = variable("AWS_SHARED_CREDENTIALS_FILE");
  if (path.empty() && !variable("HOME").empty()) path = variable("HOME") + "/.aws/credentials";
  if (!path.empty()) {
    TRY(const std::optional<std::string> text, read_text(path));
    if (text) return from_text(path, *text, profile);
  }
  if (!source.profile.empty()) {
    return fail(Errc::kUnauthenticated,
                fmt::format("no credentials for S3: backup.s3_profile = {} names a section of {}, "
                            "which does not exist; without a profile, AWS_ACCESS_KEY_ID and "
                            "AWS_SECRET_ACCESS_KEY of the environment are used",
                            source.profile, path.empty() ? "~/.aws/credentials" : path));
  }
  return fail(Errc::kUnauthenticated,
              fmt::format("no credentials for S3: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, "
                          "or write {}, or name a file with backup.s3_credentials_file",
                          path.empty() ? "~/.aws/credentials" : path));
}

}  // namespace halite::storage::backup
