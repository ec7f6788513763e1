#include "web/access/accounts.h"

#include <sys/stat.h>

#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "common/log.h"

namespace halite::web {
namespace {

struct WrittenValue {
  std::string text;
  std::size_t line = 0;  // 0 = missing
};

// One table of the file.
struct Entry {
  WrittenValue secret;  // as written
  WrittenValue roles;
  std::size_t line = 0;  // of the table
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
  if (setting.empty_table) {
    const std::string_view name = between(setting.name, kind, "");
    if (!name.empty()) entries[std::string(name)].line = setting.line;
    return !name.empty() || kind == setting.name + ".";
  }
  for (const std::string_view field : {secret, std::string_view(".roles")}) {
    const std::string_view name = between(setting.name, kind, field);
    if (name.empty()) continue;
    Entry& entry = entries[std::string(name)];
    (field == secret ? entry.secret : entry.roles) = {setting.text, setting.line};
    entry.line = setting.table_line;
    return true;
  }
  return false;
}

// The roles of a table that has both of its keys. `secret` is the other key, which `tool` prints.
Result<Roles> complete_roles(const std::string& path, std::string_view table,
                             std::string_view secret, std::string_view tool, const Entry& entry) {
  if (entry.secret.line == 0) {
    return std::unexpected(wrong(
        path, entry.line, fmt::format("{}: {} is missing; `{}` prints it", table, secret, tool)));
  }
  if (entry.roles.line == 0) {
    return std::unexpected(
        wrong(path, entry.line,
              fmt::format("{}: roles is missing; it is one or more of read, write and admin, "
                          "separated by commas, such as \"read,write\"",
                          table)));
  }
  Result<Roles> roles = parse_roles(entry.roles.text);
  if (!roles) return std::unexpected(wrong(path, entry.roles.line, roles.error().message));
  return roles;
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
    TRY(const Roles roles,
        complete_roles(path, "users." + name, "password", "halite auth user", entry));
    if (name.find(':') != std::string::npos) {
      return std::unexpected(wrong(path, entry.line, "the name of a user must not contain \":\""));
    }
    const Result<void> hashed = check_password_hash(entry.secret.text);
    if (!hashed) return std::unexpected(wrong(path, entry.secret.line, hashed.error().message));
    accounts.users_[name] = {.account = {name, roles}, .password = entry.secret.text};
  }
  for (const auto& [name, entry] : tokens) {
    TRY(const Roles roles,
        complete_roles(path, "tokens." + name, "sha256", "halite auth token", entry));
    const std::optional<Digest> digest = digest_of(entry.secret.text);
    if (!digest) {
      return std::unexpected(
          wrong(path, entry.secret.line,
                "sha256 must have 64 hexadecimal digits, as printed by `halite auth token`"));
    }
    const auto [other, fresh] = accounts.tokens_.try_emplace(*digest, Account{name, roles});
    if (!fresh) {
      return std::unexpected(wrong(
          path, entry.secret.line,
          fmt::format("tokens.{} and tokens.{} have the same sha256; keep one of the two tables",
                      other->second.name, name)));
    }
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
