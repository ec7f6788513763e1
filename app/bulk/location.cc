#include "app/bulk/location.h"

#include <fmt/format.h>

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
  if (text.contains("://")) {
    return fail(
        Errc::kInvalidArgument,
        fmt::format("\"{}\" is not a location: write http://HOST:PORT, hbase://QUORUM[/ROOT] or "
                    "a data directory",
                    text));
  }
  location.settings = {"store=engine", fmt::format("data_dir={}", text)};
  return location;
}

}  // namespace halite::app
