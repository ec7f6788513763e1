// The points in a body of Prometheus' remote_write, 1.0 or 2.0, without its compression. No message
// objects: a series that is known by its bytes costs no parsing of labels.
//
//   Parts      the series and the metadata of the body, from 1, in its order.
//   Points     doubles with all their bits, at milliseconds.
//   Refused    native histograms, each by itself; times outside of 0 to kTimestampMax, and those
//              that look like another unit; names as in docs/data-model.md. A reason begins with
//              the series, if that has a name.
//   Errors     kInvalidArgument: the bytes are no request of the version, or a reference of 2.0
//              leads nowhere. The message has the byte or the series, both from 1.
//              kTooLarge: more than points_per_request_max samples, histograms and metadata; or
//              2.0 has more than kLabelBytesMax of labels with its symbols in place.
//   Lifetime   the bytes outlive the body.
#pragma once

#include <cstddef>
#include <cstdint>
#include <expected>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/bytes/proto_reader.h"
#include "common/data_point.h"
#include "ingest/formats/point_receiver.h"
#include "ingest/options.h"

namespace halite::ingest {

// A few kilobytes of 2.0 may stand for gigabytes of labels.
inline constexpr std::size_t kLabelBytesMax = std::size_t{128} << 20;

enum class RemoteWriteVersion : std::uint8_t { k1, k2 };

// What was in a body, stored or not.
struct RemoteWriteCounts {
  std::uint64_t samples = 0;
  std::uint64_t histograms = 0;
  std::uint64_t exemplars = 0;
};

struct RemoteSample {
  ValueBits value = 0;
  std::int64_t ms = 0;
};

class RemoteWriteBody : public PointBody {
 public:
  [[nodiscard]] std::expected<SeriesName, Refused> series_name(const SeriesKey& key) const final;
  // After read().
  [[nodiscard]] const RemoteWriteCounts& counts() const { return counts_; }

 protected:
  explicit RemoteWriteBody(const IngestLimits& limits) : limits_(limits) {}

  // The fields of a series that are no labels, as the version numbers them.
  struct SeriesFields {
    std::uint32_t sample = 0;
    std::uint32_t histogram = 0;
    std::uint32_t exemplar = 0;
  };
  // `labels` is a key's text, or why samples of the series are refused. `series` is before its
  // first field.
  using Labels = std::expected<std::string_view, std::string>;
  Result<void> pass_on(const Labels& labels, ProtoReader& series, const SeriesFields& fields,
                       PointReceiver& to);
  // Samples of the current series, which is known by its labels.
  Result<void> pass_on(const std::vector<RemoteSample>& samples, std::string_view labels,
                       PointReceiver& to);
  // Passes it on if it names a metric, or refuses text that is not UTF-8.
  Result<void> pass_on(const MetricMetadata& about, PointReceiver& to);
  [[nodiscard]] const IngestLimits& limits() const { return limits_; }

 private:
  void pass_on(const RemoteSample& sample, std::string_view labels, PointReceiver& to);
  Result<void> count_item();
  // "up{job="x"}: <reason>"; the reason alone if the series has no legal name, or nobody reads it.
  [[nodiscard]] std::string about_series(std::string_view labels, std::string_view reason,
                                         const PointReceiver& to);
  // At most some hundred bytes.
  [[nodiscard]] std::string shown_series(std::string_view labels) const;

  const IngestLimits limits_;
  RemoteWriteCounts counts_;
  std::size_t items_ = 0;     // samples, histograms and metadata
  std::string shown_labels_;  // of the last series in a reason
  std::string shown_series_;  // the same, as text
};

[[nodiscard]] std::unique_ptr<RemoteWriteBody> make_remote_write_body(RemoteWriteVersion version,
                                                                      BytesView bytes,
                                                                      const IngestLimits& limits);

}  // namespace halite::ingest
