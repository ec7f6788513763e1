#include "web/access/access_control.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <utility>

#include <boost/asio/thread_pool.hpp>
#include <fmt/format.h>
#include <prometheus/counter.h>

#include "common/file_reloader.h"
#include "common/log.h"
#include "common/metrics.h"
#include "common/threads/offload.h"
#include "web/access/failure_count.h"

namespace halite::web {
namespace {

// Takes as long as a real check, so that the time does not reveal which users exist.
constexpr std::string_view kUnknownUserHash =
    "$scrypt$ln=15,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$"
    "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA";

constexpr std::size_t kDigestKeyBytes = 32;
constexpr std::int64_t kLookMsMin = 10;  // between two checks of auth.file

prometheus::Counter& counter(prometheus::Registry& registry, const char* how) {
  return add_counter(registry, "halite_auth_total", "Login attempts, by outcome.",
                     {{"outcome", how}});
}

}  // namespace

struct AccessControl::State {
  State(AccessOptions wanted, const Clock& time, prometheus::Registry& registry)
      : options(std::move(wanted)),
        clock(time),
        failures({options.failures_max, options.failures_ms, options.addresses_max}),
        known(counter(registry, "known")),
        unknown(counter(registry, "unknown")),
        held_back(counter(registry, "held_back")),
        checked(add_counter(registry, "halite_auth_passwords_checked_total",
                            "Passwords checked with scrypt, about 60 ms each.")) {}

  const AccessOptions options;
  const Clock& clock;
  Caller anonymous;        // set by start()
  std::string digest_key;  // set by start()

  FileReloader<const Accounts> accounts;

  std::mutex mutex;
  FailureCount failures;                 // guarded by mutex
  std::map<Digest, TimestampMs> logins;  // values: expiry times; guarded by mutex

  std::atomic<std::size_t> waiting = 0;  // passwords waiting for their check
  prometheus::Counter& known;
  prometheus::Counter& unknown;
  prometheus::Counter& held_back;
  prometheus::Counter& checked;
  boost::asio::thread_pool checking{1};  // last: ends before what it uses

  [[nodiscard]] std::shared_ptr<const Accounts> current() const;
  Result<void> admit(const std::string& address);
  void failed(const std::string& address);
  bool remembered(const Digest& digest);
  void remember(const Digest& digest);
  [[nodiscard]] Digest digest_of(const PasswordLogin& login, std::string_view hash) const;
};

// Null without a file.
std::shared_ptr<const Accounts> AccessControl::State::current() const {
  std::shared_ptr<const Accounts> now = accounts.current();
  return now != nullptr ? now : std::make_shared<const Accounts>();
}

Result<void> AccessControl::State::admit(const std::string& address) {
  const std::lock_guard lock(mutex);
  const std::int64_t wait_ms = failures.wait_ms(address, clock.now_ms());
  if (wait_ms == 0) return {};
  held_back.Increment();
  return fail(Errc::kOverloaded,
              fmt::format("Too many failed logins from {} (auth.failures_max); try again in {} s",
                          address, (wait_ms + 999) / 1000),
              std::to_string((wait_ms + 999) / 1000));
}

void AccessControl::State::failed(const std::string& address) {
  unknown.Increment();
  log::warn("audit: {} sent an unknown user, password or token", address);
  const std::lock_guard lock(mutex);
  failures.add(address, clock.now_ms());
}

bool AccessControl::State::remembered(const Digest& digest) {
  const std::lock_guard lock(mutex);
  const auto found = logins.find(digest);
  if (found == logins.end()) return false;
  if (found->second > clock.now_ms()) return true;
  logins.erase(found);
  return false;
}

void AccessControl::State::remember(const Digest& digest) {
  const std::lock_guard lock(mutex);
  const TimestampMs now = clock.now_ms();
  if (logins.size() >= options.logins_kept_max) {
    std::erase_if(logins, [now](const auto& login) { return login.second <= now; });
  }
  if (logins.size() >= options.logins_kept_max) return;  // later ones are checked each time
  logins[digest] = now + options.logins_kept_ms;
}

// Includes the hash from the file, so that a changed password no longer matches.
Digest AccessControl::State::digest_of(const PasswordLogin& login, std::string_view hash) const {
  return sha256(
      fmt::format("{}{}:{}:{}{}", digest_key, login.user.size(), login.user, hash, login.password));
}

AccessControl::AccessControl(AccessOptions options, const Clock& clock,
                             prometheus::Registry& registry)
    : state_(std::make_shared<State>(std::move(options), clock, registry)) {}

AccessControl::~AccessControl() { state_->checking.join(); }

Result<Roles> anonymous_roles(const AccessOptions& options, bool loopback) {
  if (options.anonymous != "auto") {
    Result<Roles> roles = parse_roles(options.anonymous);
    if (roles) return roles;
    return fail(Errc::kInvalidArgument, fmt::format("auth.anonymous: {}", roles.error().message));
  }
  if (!options.file.empty()) return Roles();
  if (loopback) return Roles::all();
  return fail(Errc::kInvalidArgument,
              "any host on the network could read, write and delete data: set auth.file, or set "
              "auth.anonymous to the roles of clients without credentials, such as \"read,write\", "
              "\"admin\" or \"none\" (see docs/operate/security.md)");
}

Result<Accounts> read_accounts(const std::string& auth_file) {
  Result<Accounts> accounts = Accounts::read(auth_file);
  if (accounts) return accounts;
  return fail(Errc::kInvalidArgument, fmt::format("auth.file: {}", accounts.error().message));
}

Result<void> AccessControl::start(bool loopback) {
  State& state = *state_;
  TRY(state.anonymous.roles, anonymous_roles(state.options, loopback));
  TRY(state.digest_key, random_bytes(kDigestKeyBytes));
  if (!loopback && state.anonymous.roles.may(Role::kAdmin)) {
    log::warn("any host that reaches this server can read, write and delete data (auth.anonymous)");
  }
  if (state.options.file.empty()) return {};
  const std::string& file = state.options.file;
  const auto read = [file]() -> Result<std::shared_ptr<const Accounts>> {
    TRY(Accounts accounts, read_accounts(file));
    return std::make_shared<const Accounts>(std::move(accounts));
  };
  const auto taken = [](const Accounts& accounts) {
    return fmt::format("auth.file reloaded: {} users and tokens", accounts.size());
  };
  return state.accounts.start(
      {.paths = {file},
       .read = read,
       .taken = taken,
       .refused = "the changed auth.file is invalid"},
      std::chrono::milliseconds(std::max(state.options.reload_ms, kLookMsMin)));
}

std::uint64_t AccessControl::version() { return state_->accounts.version(); }

Caller AccessControl::anonymous() const { return state_->anonymous; }

Task<Caller> AccessControl::caller(Login login, std::string address) {
  if (auto* const token = std::get_if<TokenLogin>(&login)) {
    co_return with_token(token->token, address);
  }
  co_return co_await with_password(std::get<PasswordLogin>(std::move(login)), std::move(address));
}

Result<Caller> AccessControl::with_token(std::string_view token, const std::string& address) {
  const std::shared_ptr<const Accounts> accounts = state_->current();
  const Account* const account = accounts->of_token(token);
  if (account == nullptr) {
    TRY_VOID(state_->admit(address));
    state_->failed(address);
    return fail(Errc::kUnauthenticated, "unknown token");
  }
  state_->known.Increment();
  return *account;
}

Task<Caller> AccessControl::with_password(PasswordLogin login, std::string address) {
  const std::shared_ptr<State> state = state_;
  const std::shared_ptr<const Accounts> accounts = state->current();
  const Accounts::User* const found = accounts->user(login.user);
  const std::string hash = found == nullptr ? std::string(kUnknownUserHash) : found->password;
  const Digest digest = state->digest_of(login, hash);
  if (found != nullptr && state->remembered(digest)) {
    state->known.Increment();
    co_return found->account;
  }
  CO_TRY_VOID(state->admit(address));
  if (state->waiting.fetch_add(1) >= state->options.passwords_waiting_max) {
    state->waiting.fetch_sub(1);
    state->held_back.Increment();
    co_return fail(Errc::kOverloaded,
                   "too many passwords to check at once (auth.passwords_waiting_max)", "1");
  }
  auto check = [state, password = std::move(login.password), hash] {
    const bool fits = password_fits(password, hash);
    state->checked.Increment();
    state->waiting.fetch_sub(1);
    return fits;
  };
  const bool fits = co_await offload(state->checking, std::move(check));
  if (!fits || found == nullptr) {
    state->failed(address);
    co_return fail(Errc::kUnauthenticated, "unknown user or wrong password");
  }
  state->remember(digest);
  state->known.Increment();
  co_return found->account;
}

}  // namespace halite::web
