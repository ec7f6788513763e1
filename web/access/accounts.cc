#include "web/access/accounts.h"

#include <sys/stat.h>

#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "common/log.h"

namespace halite::web {
namespace {

// One table of the file.
struct Entry {
  std::string secret;  // as written
  std::string roles;
  std::size_t line = 0;
};

std::optional<Digest> digest_of(std::string_view hex) {
  Digest digest;
  if (hex.size() != 2 * digest.size()) return std::nullopt;
  for (std::size_t i = 0; i < digest.size(); ++i) {
    const char* const at = hex.data() + 2 * i;
    const auto [end, error] = std::from_chars(at, at + 2, digest[i], 16);
    if (error != std::errc() || end != at + 2) return std::nullopt;
  }
  return digest;
}

Error wrong(const std::string& path, std::size_t line, std::string what) {
  return {.code = Errc::kInvalidArgument,
          .message = fmt::format("{}:{}: {}", path, line, what),
          .details = {}};
}

// "alice" of "users.alice.roles"; empty if `name` has another form.
std::string_view between(std::string_view name, std::string_view begin, std::string_view end) {
  if (!name.starts_with(begin) || !name.ends_with(end)) return {};
  if (name.size() <= begin.size() + end.size()) return {};
  return name.substr(begin.size(), name.size() - begin.size() - end.size());
}

using Entries = std::map<std::string, Entry, std::less<>>;

// Stores the setting if it belongs to this kind of table. Returns false otherwise.
bool collect(const FileSetting& setting, std::string_view kind, std::string_view secret,
             Entries& entries) {
  for (const std::string_view field : {secret, std::string_view(".roles")}) {
    const std::string_view name = between(setting.name, kind, field);
    if (name.empty()) continue;
    Entry& entry = entries[std::string(name)];
    (field == secret ? entry.secret : entry.roles) = setting.text;
    entry.line = setting.line;
    return true;
  }
  return false;
}

}  // namespace

Result<Accounts> Accounts::from(const std::vector<FileSetting>& settings, const std::string& path) {
  Entries users;
  Entries tokens;
  for (const FileSetting& setting : settings) {
    if (collect(setting, "users.", ".password", users)) continue;
    if (collect(setting, "tokens.", ".sha256", tokens)) continue;
    return std::unexpected(
        wrong(path, setting.line,
              fmt::format("unknown key \"{}\"; the keys are users.NAME.password, "
                          "tokens.NAME.sha256 and their .roles",
                          setting.name)));
  }
  Accounts accounts;
  for (const auto& [name, entry] : users) {
    const Result<Roles> roles = parse_roles(entry.roles);
    if (!roles) return std::unexpected(wrong(path, entry.line, roles.error().message));
    if (name.find(':') != std::string::npos) {
      return std::unexpected(wrong(path, entry.line, "the name of a user must not contain \":\""));
    }
    const Result<void> hashed = check_password_hash(entry.secret);
    if (!hashed) return std::unexpected(wrong(path, entry.line, hashed.error().message));
    accounts.users_[name] = {.account = {name, *roles}, .password = entry.secret};
  }
  for (const auto& [name, entry] : tokens) {
    const Result<Roles> roles = parse_roles(entry.roles);
    if (!roles) return std::unexpected(wrong(path, entry.line, roles.error().message));
    const std::optional<Digest> digest = digest_of(entry.secret);
    if (!digest) {
      return std::unexpected(
          wrong(path, entry.line,
                "sha256 must have 64 hexadecimal digits, as printed by `halite auth token`"));
    }
    accounts.tokens_[*digest] = {name, *roles};
  }
  return accounts;
}

Result<Accounts> Accounts::read(const std::string& path) {
  struct stat info = {};
  const bool there = ::stat(path.c_str(), &info) == 0;
  if (there && !S_ISREG(info.st_mode)) {
    return fail(Errc::kInvalidArgument, fmt::format("{} is not a regular file", path));
  }
  if (there && (info.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return fail(
        Errc::kInvalidArgument,
        fmt::format("users other than its owner can write {}: run chmod go-w {}", path, path));
  }
  TRY(const std::vector<FileSetting> settings, read_config_file(path));
  Result<Accounts> accounts = from(settings, path);
  if (accounts && (info.st_mode & S_IROTH) != 0) {
    log::warn("all users of this machine can read {}: run chmod 600 {}", path, path);
  }
  return accounts;
}

Result<Accounts> Accounts::parse(std::string_view text, const std::string& path) {
  TRY(const std::vector<FileSetting> settings, parse_config_text(text, path));
  return from(settings, path);
}

const Account* Accounts::of_token(std::string_view token) const {
  const auto found = tokens_.find(sha256(token));
  return found == tokens_.end() ? nullptr : &found->second;
}

const Accounts::User* Accounts::user(std::string_view name) const {
  const auto found = users_.find(name);
  return found == users_.end() ? nullptr : &found->second;
}

}  // namespace halite::web
