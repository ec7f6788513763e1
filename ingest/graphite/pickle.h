// A message of carbon's pickle protocol: [(path, (time, value)), ..], without the length before it.
//
// A pair may be a list, a time or a value may be a number or its text, as carbon takes them. An
// entry of another shape is refused, and the others are taken. All values are doubles, also those
// that the sender has as integers.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

#include "ingest/formats/graphite_path.h"
#include "ingest/formats/point_format.h"
#include "ingest/graphite/pickle_machine.h"
#include "ingest/options.h"

namespace halite::ingest {

// The longest message: carbon's limit.
inline constexpr std::size_t kPickleBytesMax = 1 << 20;
// Of the paths in a message, each as often as it is used, as entries may share a long one. Entries
// beyond it are refused.
inline constexpr std::size_t kPathBytesMax = 16 << 20;
// The big-endian length before each message.
inline constexpr std::size_t kPickleLengthBytes = 4;

class PickleBody final : public PointBody {
 public:
  // The message outlives the body. Of the options, it uses the templates and default_time.
  PickleBody(std::string_view message, const FormatOptions& options, const IngestLimits& limits,
             const PickleLimits& pickle_limits = {});

  // The parts are the entries. kInvalidArgument: no such pickle. kTooLarge: the paths of the
  // entries have more than kPathBytesMax bytes.
  [[nodiscard]] Result<void> read(PointReceiver& to) override;
  [[nodiscard]] std::expected<SeriesName, Refused> series_name(
      const SeriesKey& key) const override {
    return path_.series_name(key);
  }

 private:
  // Why it is not taken.
  [[nodiscard]] std::optional<std::string> take(const PickleItem& entry, PointReceiver& to);

  const std::optional<TimestampMs> default_time_;
  GraphitePath path_;
  std::size_t path_bytes_ = 0;
  PickleMachine machine_;
};

}  // namespace halite::ingest
