#include "storage/tools/backup/s3/s3_lock.h"

#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <openssl/rand.h>

#include "common/bytes/ascii.h"
#include "common/bytes/read_number.h"
#include "common/check.h"
#include "common/log.h"

namespace halite::storage::backup {
namespace {

constexpr std::int64_t kVoidAfterMs = 600'000;
constexpr std::int64_t kRenewAfterMs = 60'000;
constexpr std::uint64_t kOwnerBytesMax = 4096;
constexpr std::size_t kNameDigits = 16;
constexpr std::string_view kReleased = "released\n";

std::string first_line(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

// When the process started, in ticks since the boot; empty: it is unknown, or hidden by the system.
// Another text: it has ended, but its parent has not asked how.
std::string start_of(std::string_view pid) {
  const std::string stat = first_line(fmt::format("/proc/{}/stat", pid));
  const std::size_t bracket = stat.rfind(')');  // after the name, which may have any characters
  if (bracket == std::string::npos) return {};
  std::string_view rest = trim(std::string_view(stat).substr(bracket + 1));
  if (rest.starts_with('Z') || rest.starts_with('X')) return "ended";
  constexpr int kFieldsBefore = 19;  // the start is field 22; the first one here is 3
  for (int field = 0; field < kFieldsBefore; ++field) {
    rest.remove_prefix(std::min(rest.find(' ') + 1, rest.size()));
  }
  return std::string(rest.substr(0, rest.find(' ')));
}

// Identifies a process among all machines, as well as the system says.
struct Owner {
  std::string machine;    // of this boot, or of all
  std::string processes;  // namespace of process ids
  std::string pid;
  std::string start;
  std::string host;

  static Owner self() {
    std::error_code unknown;
    std::array<char, 256> host{};
    if (gethostname(host.data(), host.size() - 1) != 0) host[0] = '?';
    Owner owner{.machine = first_line("/proc/sys/kernel/random/boot_id"),
                .processes = std::filesystem::read_symlink("/proc/self/ns/pid", unknown).string(),
                .pid = std::to_string(getpid()),
                .start = {},
                .host = host.data()};
    if (owner.machine.empty()) owner.machine = first_line("/etc/machine-id");  // ProcSubset=pid
    owner.start = start_of(owner.pid);
    return owner;
  }

  [[nodiscard]] std::string text() const {
    return fmt::format("{}\n{}\n{}\n{}\n{}\n", machine, processes, pid, start, host);
  }

  // Unknown fields are empty.
  static Owner parse(std::string_view text) {
    Owner owner;
    for (std::string* field :
         {&owner.machine, &owner.processes, &owner.pid, &owner.start, &owner.host}) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      *field = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
    }
    return owner;
  }

  // Whether it was a process of this machine that does not exist any more.
  [[nodiscard]] bool has_ended(const Owner& self) const {
    pid_t number = 0;
    if (machine.empty() || machine != self.machine || processes.empty() ||
        processes != self.processes || host != self.host || !read_number(pid, number) ||
        number <= 0) {
      return false;
    }
    if (kill(number, 0) != 0 && errno == ESRCH) return true;
    const std::string now = start_of(pid);
    return !now.empty() && !start.empty() && now != start;  // another process has its id
  }
};

std::string random_name() {
  std::array<unsigned char, kNameDigits / 2> bytes{};
  HALITE_CHECK(RAND_bytes(bytes.data(), bytes.size()) == 1, "OpenSSL has no random numbers");
  return to_lower(to_hex({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
}

// Whether the text may be of random_name().
bool is_name(std::string_view text) {
  return text.size() == kNameDigits &&
         text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

class S3Lock final : public StoreLock {
 public:
  explicit S3Lock(S3Client& client)
      : client_(client),
        self_(Owner::self()),
        folder_(client.options().url.key("locks/")),
        key_(folder_ + random_name()) {}

  ~S3Lock() override {
    if (!taken_) return;
    const Result<void> removed = client_.remove_last(key_);
    if (removed || removed.error().code == Errc::kNotFound) return;
    // Without the permission to delete anything, it can still say that it is no lock any more.
    const Result<void> released = client_.put_last(key_, kReleased);
    if (!released) log::warn("a lock stays for ten minutes: {}", released.error().message);
  }
  S3Lock(const S3Lock&) = delete;

  Result<void> take() {
    TRY_VOID(renew());
    TRY(const std::vector<ListedObject> locks, client_.list(folder_, true));
    const auto own = std::ranges::find(locks, key_, &ListedObject::key);
    if (own == locks.end()) {
      return fail(Errc::kUnsupported,
                  fmt::format("{} does not list an object that was just written; backups need a "
                              "store that does",
                              client_.options().endpoint.authority()));
    }
    for (const ListedObject& other : locks) {
      if (other.key == key_ || !is_name(other.key.substr(folder_.size()))) continue;
      TRY_VOID(remove_if_void(other, own->modified - other.modified));
    }
    return check_age();
  }

  Result<void> keep() override {
    if (age_ms() < kRenewAfterMs) return {};
    TRY_VOID(confirm());
    return renew();
  }

  // Who may not delete leaves a void lock as it is: that it is listed says too little.
  Result<void> confirm() override {
    TRY(const std::vector<ListedObject> locks, client_.list(key_, true));
    if (std::ranges::find(locks, key_, &ListedObject::key) == locks.end()) {
      taken_ = false;
      return lost(
          fmt::format("was locked by another process meanwhile, because this one had not "
                      "renewed its lock for {} s",
                      age_ms() / 1000));
    }
    return check_age();
  }

 private:
  // Since before the last renewal.
  [[nodiscard]] std::int64_t age_ms() const {
    const Clock& clock = *client_.options().clock;
    // Either clock may stand still while the machine sleeps.
    return std::max(clock.now_ms() - renewed_ms_, (clock.elapsed_us() - renewed_us_) / 1000);
  }

  [[nodiscard]] std::unexpected<Error> lost(const std::string& why) const {
    return fail(Errc::kConflict,
                fmt::format("{} {}; start again", client_.options().url.text(), why));
  }

  // kConflict: the lock has been void since the last renewal.
  [[nodiscard]] Result<void> check_age() const {
    const std::int64_t age = age_ms();
    if (age < kVoidAfterMs) return {};
    return lost(
        fmt::format("may have been locked by another process meanwhile, because this one "
                    "had not renewed its lock for {} s",
                    age / 1000));
  }

  // kConflict: it was void before it was renewed.
  Result<void> renew() {
    const bool first = !taken_;
    taken_ = true;  // also if the answer is lost
    const Clock& clock = *client_.options().clock;
    const TimestampMs now_ms = clock.now_ms();
    const std::int64_t now_us = clock.elapsed_us();
    TRY_VOID(client_.put(key_, self_.text()));
    if (!first) TRY_VOID(check_age());
    renewed_ms_ = now_ms;
    renewed_us_ = now_us;
    return {};
  }

  // Removes a lock that is void. kConflict: it is not.
  Result<void> remove_if_void(const ListedObject& other, std::int64_t age_ms) {
    if (age_ms <= kVoidAfterMs) {
      const std::uint64_t size = std::min(other.bytes, kOwnerBytesMax);
      const Result<Bytes> text = client_.read(other.key, {.begin = 0, .end = size}, other.bytes);
      if (!text && text.error().code == Errc::kNotFound) return {};
      if (!text && text.error().code != Errc::kCorruption) return std::unexpected(text.error());
      const Bytes written = text.value_or("");
      const Owner owner = Owner::parse(written);
      if (written != kReleased && !owner.has_ended(self_)) return conflict(other, owner, age_ms);
    }
    Result<void> removed = client_.remove(other.key);
    if (removed || removed.error().code == Errc::kForbidden) return {};
    return removed;
  }

  [[nodiscard]] std::unexpected<Error> conflict(const ListedObject& other, const Owner& owner,
                                                std::int64_t age_ms) const {
    return fail(
        Errc::kConflict,
        fmt::format("another backup is running in {}: process {} on {}, seen {} s ago; "
                    "{} is void {} s after it was last renewed, and then removed",
                    client_.options().url.text(), owner.pid, owner.host,
                    std::max<std::int64_t>(age_ms, 0) / 1000, other.key, kVoidAfterMs / 1000));
  }

  S3Client& client_;
  const Owner self_;
  const std::string folder_;
  const std::string key_;
  bool taken_ = false;
  TimestampMs renewed_ms_ = 0;
  std::int64_t renewed_us_ = 0;
};

}  // namespace

Result<std::unique_ptr<StoreLock>> lock_s3(S3Client& client) {
  auto lock = std::make_unique<S3Lock>(client);
  TRY_VOID(lock->take());
  return lock;
}

}  // namespace halite::storage::backup
