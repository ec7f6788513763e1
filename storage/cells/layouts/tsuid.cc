#include "storage/cells/layouts/tsuid.h"

#include <algorithm>

#include <fmt/format.h>

namespace halite::storage {

Bytes make_tsuid(const UidWidths& widths, std::uint64_t metric_uid,
                 std::span<const UidPair> pairs) {
  std::vector<UidPair> sorted(pairs.begin(), pairs.end());
  std::ranges::sort(sorted);  // numbers of one width have the order of their bytes
  Bytes tsuid;
  tsuid.reserve(widths.metric + sorted.size() * (widths.tag_key + widths.tag_value));
  append_be_width(tsuid, metric_uid, widths.metric);
  for (const UidPair& pair : sorted) {
    append_be_width(tsuid, pair.key, widths.tag_key);
    append_be_width(tsuid, pair.value, widths.tag_value);
  }
  return tsuid;
}

bool is_tsuid_length(const UidWidths& widths, std::size_t length) {
  return length >= widths.metric &&
         (length - widths.metric) % (widths.tag_key + widths.tag_value) == 0;
}

Result<SeriesUids> parse_tsuid(const UidWidths& widths, BytesView tsuid) {
  if (!is_tsuid_length(widths, tsuid.size())) {
    return fail(
        Errc::kInvalidArgument,
        fmt::format("a tsuid must have {} bytes and {} for each tag, found {} bytes: {}",
                    widths.metric, widths.tag_key + widths.tag_value, tsuid.size(), to_hex(tsuid)));
  }
  SeriesUids uids;
  uids.metric = load_be_width(tsuid.substr(0, widths.metric));
  uids.pairs.reserve((tsuid.size() - widths.metric) / (widths.tag_key + widths.tag_value));
  for (std::size_t at = widths.metric; at < tsuid.size(); at += widths.tag_key + widths.tag_value) {
    uids.pairs.push_back({load_be_width(tsuid.substr(at, widths.tag_key)),
                          load_be_width(tsuid.substr(at + widths.tag_key, widths.tag_value))});
  }
  return uids;
}

Result<void> check_widths(const UidWidths& widths) {
  for (const auto& [name, width] :
       {std::pair{"metric", widths.metric}, {"tagk", widths.tag_key}, {"tagv", widths.tag_value}}) {
    if (width < 1 || width > 8) {
      return fail(Errc::kInvalidArgument,
                  fmt::format("the {} uid width must be 1 to 8 bytes, found {}", name, width));
    }
  }
  return {};
}

}  // namespace halite::storage
