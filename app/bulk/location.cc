#include "app/bulk/location.h"

#include <algorithm>

#include <fmt/format.h>

#include "common/bytes/ascii.h"

namespace halite::app {

Result<Location> parse_location(std::string_view text) {
  constexpr std::string_view kHBase = "hbase://";
  if (text.empty()) return fail(Errc::kInvalidArgument, "a location is empty");
  Location location;
  if (text.starts_with("http://") || text.starts_with("https://")) {
    location.url = text;
    return location;
  }
  if (text.starts_with(kHBase)) {
    text.remove_prefix(kHBase.size());
    const std::size_t slash = text.find('/');
    if (slash == 0 || text.empty()) {
      return fail(Errc::kInvalidArgument, "hbase:// names no host of ZooKeeper");
    }
    location.settings = {"store=hbase", fmt::format("hbase.quorum={}", text.substr(0, slash))};
    if (slash != std::string_view::npos) {
      location.settings.push_back(fmt::format("hbase.root={}", text.substr(slash)));
    }
    return location;
  }
  // HOST:PORT without http:// would make a directory of that name.
  const std::string_view name = text.substr(0, text.find_last_not_of('/') + 1);
  const std::size_t colon = name.rfind(':');
  const std::string_view port = name.substr(std::min(name.size(), colon + 1));
  const bool has_port = colon != std::string_view::npos && !name.contains('/') && !port.empty() &&
                        std::ranges::all_of(port, is_digit);
  if (text.contains("://") || has_port) {
    return fail(
        Errc::kInvalidArgument,
        fmt::format("\"{}\" is not a location: write http://HOST:PORT, hbase://QUORUM[/ROOT] or "
                    "a data directory, as ./NAME if it has a colon",
                    text));
  }
  location.settings = {"store=engine", fmt::format("data_dir={}", text)};
  return location;
}

}  // namespace halite::app
