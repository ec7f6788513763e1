#include "app/settings/memory_settings.h"

#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "common/bytes/read_number.h"
#include "common/config/config_value.h"
#include "common/units.h"

namespace halite::app {
namespace {

constexpr std::int64_t kLimitMin = 64 * kMiB;
constexpr std::int64_t kLimitMax = 1024 * kGiB;
constexpr std::int64_t kDefaultPercent = 60;  // of the available memory

// Together the lasting shares are the limit. The others are limits of what is held for a moment.
enum class Kind : std::uint8_t {
  kMoved,      // grows into room that others do not use
  kLends,      // cannot free memory: lends unused room, and never grows above its base
  kMomentary,  // reduces the others by what it uses
  kFollows,    // a part of another share
};

struct Share {
  std::string_view setting;
  Kind kind;
  std::int64_t sixteenths;
  std::int64_t bytes_min;
  std::int64_t bytes_max;  // no benefit above
};

constexpr std::string_view kHeadFreeze = "engine.head_freeze_bytes";
constexpr std::string_view kHeadMax = "engine.head_bytes_max";

constexpr std::array kShares = {
    Share{"storage.series_bytes_max", Kind::kLends, 8, 32 * kMiB, 1024 * kGiB},
    Share{kHeadMax, Kind::kMoved, 4, 32 * kMiB, 16 * kGiB},
    Share{"ingest.series_cache_bytes_max", Kind::kMoved, 2, 4 * kMiB, 16 * kGiB},
    Share{"engine.block_cache_bytes", Kind::kMoved, 1, 8 * kMiB, 1024 * kGiB},
    Share{"rocksdb.block_cache_bytes", Kind::kMoved, 1, 8 * kMiB, 1024 * kGiB},
    Share{kHeadFreeze, Kind::kFollows, 2, 8 * kMiB, 4 * kGiB},
    Share{"query.bytes_max", Kind::kMomentary, 2, 128 * kMiB, 1024 * kGiB},
    Share{"query.answers_bytes_max", Kind::kMomentary, 1, 64 * kMiB, 1024 * kGiB},
    Share{"query.promql_cache_bytes_max", Kind::kMomentary, 1, 8 * kMiB, 512 * kMiB},
    Share{"web.bodies_bytes_max", Kind::kMomentary, 1, 256 * kMiB, 1024 * kGiB},
};

const Setting* find(const Config& config, std::string_view name) {
  const auto found = std::ranges::find(config.settings(), name, &Setting::name);
  return found == config.settings().end() ? nullptr : &*found;
}

std::uint64_t bytes_of(const Setting& setting) {
  return static_cast<std::uint64_t>(parse_bytes(setting.text).value_or(0));
}

bool is_set(const Config& config, std::string_view name) {
  const Setting* const setting = find(config, name);
  return setting != nullptr && setting->source != SettingSource::kDefault;
}

// The active head is frozen at a part of the share, and that part has a greatest size too.
std::uint64_t greatest_heads(const Config& config, std::uint64_t heads) {
  const Setting* const freeze = find(config, kHeadFreeze);
  const std::uint64_t frozen_at = freeze == nullptr ? 0 : bytes_of(*freeze);
  if (frozen_at == 0) return heads;
  const auto* const row = std::ranges::find(kShares, kHeadFreeze, &Share::setting);
  return heads / frozen_at * static_cast<std::uint64_t>(row->bytes_max);
}

std::optional<std::uint64_t> number_in(const std::filesystem::path& file) {
  std::ifstream stream(file);
  std::string text;
  std::uint64_t value = 0;
  if (!std::getline(stream, text)) return std::nullopt;
  if (!read_number(text, value)) return std::nullopt;  // "max"
  return value;
}

// The least limit of a cgroup and of those above it.
void limit_by(const std::filesystem::path& root, std::string_view cgroup, std::string_view file,
              std::uint64_t& bytes) {
  std::filesystem::path folder(root);
  folder += std::filesystem::path(cgroup);
  for (;; folder = folder.parent_path()) {
    if (const auto limit = number_in(folder / file)) bytes = std::min(bytes, *limit);
    if (folder == root || folder == folder.parent_path()) return;
  }
}

bool names_memory(std::string_view controllers) {
  while (!controllers.empty()) {
    const std::size_t comma = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, comma) == "memory") return true;
    controllers.remove_prefix(std::min(comma + 1, controllers.size()));
  }
  return false;
}

}  // namespace

std::uint64_t cgroup_memory(const std::filesystem::path& cgroups_file,
                            const std::filesystem::path& root) {
  std::uint64_t bytes = std::numeric_limits<std::uint64_t>::max();
  // A line is ID:CONTROLLERS:PATH. Version 2 has the line "0::PATH". In a container the path may be
  // that of the host, while the root is the container's.
  std::ifstream cgroups(cgroups_file);
  for (std::string line; std::getline(cgroups, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string path = line.substr(second + 1);
    const std::string controllers = line.substr(first + 1, second - first - 1);
    if (controllers.empty()) {
      for (const std::string_view file : {"memory.max", "memory.high"}) {
        limit_by(root, path, file, bytes);
        limit_by(root, "", file, bytes);
      }
    } else if (names_memory(controllers)) {
      limit_by(root / "memory", path, "memory.limit_in_bytes", bytes);
      limit_by(root / "memory", "", "memory.limit_in_bytes", bytes);
    }
  }
  return bytes;
}

std::uint64_t available_memory() {
  const std::uint64_t machine = static_cast<std::uint64_t>(get_phys_pages()) *
                                static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  return std::min(machine, cgroup_memory("/proc/self/cgroup", "/sys/fs/cgroup"));
}

void declare_memory(Config& config, MemoryOptions& memory) {
  config.bytes("memory.limit", memory.limit, {kLimitMin, kLimitMax},
               "Memory that the server plans to use. The defaults of its caches and buffers are "
               "shares of it, which move to where they are needed.");
  config.set_rule("memory.limit", fmt::format("{} % of the machine's memory or the cgroup's limit",
                                              kDefaultPercent));
  for (const Share& share : kShares) {
    config.set_rule(share.setting,
                    fmt::format("{}/16 of memory.limit, {} to {}", share.sixteenths,
                                bytes_text(share.bytes_min), bytes_text(share.bytes_max)));
  }
}

Result<void> resolve_memory(Config& config, Options& options) {
  const auto available = static_cast<std::int64_t>(available_memory());
  TRY_VOID(config.apply_rule(
      "memory.limit",
      std::clamp(available / 100 * kDefaultPercent / kMiB * kMiB, kLimitMin, kLimitMax)));
  const auto sixteenth = static_cast<std::int64_t>(options.memory.limit / 16);
  const auto bytes_of = [sixteenth](const Share& share) {
    return std::clamp(sixteenth * share.sixteenths / kMiB * kMiB, share.bytes_min, share.bytes_max);
  };
  for (const Share& share : kShares) TRY_VOID(config.apply_rule(share.setting, bytes_of(share)));
  // The head is frozen long before senders wait, also if only one of the two sizes was set.
  storage::EngineOptions& engine = options.engine;
  if (engine.head_freeze_bytes > engine.head_bytes_max / 2) {
    TRY_VOID(config.apply_rule(kHeadFreeze, static_cast<std::int64_t>(engine.head_bytes_max / 2)));
    TRY_VOID(config.apply_rule(kHeadMax, static_cast<std::int64_t>(engine.head_freeze_bytes * 2)));
  }
  // With a smaller maximum senders would wait for a head that is never frozen.
  if (engine.head_freeze_bytes >= engine.head_bytes_max) {
    return fail(
        Errc::kInvalidArgument,
        fmt::format("{} ({}) must be less than {} ({}); set at most one of the two, or "
                    "{} to half of {}",
                    kHeadFreeze, bytes_text(static_cast<std::int64_t>(engine.head_freeze_bytes)),
                    kHeadMax, bytes_text(static_cast<std::int64_t>(engine.head_bytes_max)),
                    kHeadFreeze, kHeadMax));
  }
  // The largest body has room while it is decompressed and while its charset is decoded.
  web::WebOptions& web = options.web;
  const std::size_t body =
      web.body_inflated_bytes_max + std::max(web.body_bytes_max, web.body_inflated_bytes_max);
  if (web.bodies_bytes_max < body) {
    TRY_VOID(config.apply_rule("web.bodies_bytes_max", static_cast<std::int64_t>(body)));
  }
  return {};
}

std::vector<MemoryShare> memory_shares(const Config& config) {
  constexpr std::uint64_t kLeastPart = 8;  // kept of the base, so that growth begins from something
  std::vector<MemoryShare> shares;
  for (const Share& row : kShares) {
    const Setting* const setting = find(config, row.setting);
    if (setting == nullptr || row.kind == Kind::kFollows) continue;
    MemoryShare share{.user = {.setting = setting->name, .used = {}}, .base = bytes_of(*setting)};
    share.least = share.greatest = share.base;
    share.momentary = row.kind == Kind::kMomentary;
    const bool heads = row.setting == kHeadMax;
    if (!is_set(config, row.setting) && !(heads && is_set(config, kHeadFreeze))) {
      const auto least = static_cast<std::uint64_t>(row.bytes_min);
      auto greatest = static_cast<std::uint64_t>(row.bytes_max);
      if (row.kind != Kind::kMoved) greatest = share.base;
      if (heads) greatest = std::min(greatest, greatest_heads(config, share.base));
      share.least = std::min(share.base, std::max(share.base / kLeastPart, least));
      share.greatest = std::max(share.base, greatest);
    }
    shares.push_back(std::move(share));
  }
  return shares;
}

}  // namespace halite::app
