// What parsers of points pass on: of lines of text (ingest/formats), and of whole bodies of other
// protocols, whose rooms have a PointBody each.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>

#include "common/data_point.h"
#include "common/result.h"
#include "ingest/ingest_batch.h"
#include "ingest/rules/refusal.h"
#include "ingest/series_cache/series_key.h"

namespace halite::ingest {

// What a sender says about a metric family (storage/api/families.h). Any text but the family may be
// empty.
struct MetricMetadata {
  std::string_view family;
  std::string_view type;  // "counter", "gauge", "histogram", "summary", ..
  std::string_view unit;
  std::string_view help;
};

// Receives what a parser finds, in order.
class PointReceiver {
 public:
  virtual ~PointReceiver() = default;

  // The following calls are about this part of a body. Parsers of lines do not call it: their
  // caller counts the lines.
  virtual void part(std::uint32_t number) { static_cast<void>(number); }
  // The following points belong to this series. The key's views are valid only during the call.
  virtual void series(const SeriesKey& key) = 0;
  // The series that probably comes next; empty texts if that is unknown. A parser that finds its
  // bytes need not find out where they end, and calls take_likely_series() in place of series().
  // Valid until the next call.
  [[nodiscard]] virtual SeriesKey likely_series() const { return {}; }
  virtual void take_likely_series() {}
  virtual void point(PointBits point) = 0;
  // A line or part, or a piece of it, that is not stored. Columns in the reason are bytes, the
  // first is 1.
  virtual void refuse(std::string reason) = 0;
  // False: reasons are only told apart from now on, and need not say which series they are about.
  [[nodiscard]] virtual bool keeps_reasons() const { return true; }
  // A legal part of a line that is no point: "a string", "an exemplar".
  virtual void skip(std::string_view what) { static_cast<void>(what); }
  // The views are valid only during the call.
  virtual void metadata(const MetricMetadata& about) { static_cast<void>(about); }
};

// A body of a protocol that has no lines.
class PointBody {
 public:
  virtual ~PointBody() = default;

  // Passes on all points. It counts its parts (series of remote_write, data points of OTLP) from 1
  // and calls to.part() before each. An error: the bytes are no message of the protocol; then
  // nothing that was passed on is stored. Call it once.
  [[nodiscard]] virtual Result<void> read(PointReceiver& to) = 0;
  // The series that a key from series() names, or why it is refused.
  [[nodiscard]] virtual std::expected<SeriesName, Refused> series_name(
      const SeriesKey& key) const = 0;
};

}  // namespace halite::ingest
