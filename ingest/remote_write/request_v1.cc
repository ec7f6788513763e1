// prometheus.WriteRequest.
#include <utility>
#include <vector>

#include "ingest/remote_write/plain_samples.h"
#include "ingest/remote_write/requests.h"
#include "ingest/series_cache/label_fields.h"

namespace halite::ingest {
namespace {

class RequestV1 final : public RemoteWriteBody {
 public:
  RequestV1(BytesView bytes, const IngestLimits& limits) : RemoteWriteBody(limits), bytes_(bytes) {}

  Result<void> read(PointReceiver& to) override {
    ProtoFault fault;
    ProtoReader request(bytes_, fault);
    std::uint32_t part = 0;
    while (request.next()) {
      if (request.field() == kTimeSeries) {
        to.part(++part);
        TRY_VOID(read_series(request, to));
      } else if (request.field() == kMetadata) {
        to.part(++part);
        ProtoReader metadata = request.message();
        TRY_VOID(read_metadata(metadata, to));
      } else if (request.field() == kTimeSeriesOf2) {
        request.refuse("is one of remote_write 2.0, but the Content-Type says 1.0");
      }
    }
    if (fault) return fail(Errc::kInvalidArgument, fault.text());
    return {};
  }

 private:
  static constexpr std::uint32_t kTimeSeries = 1;
  static constexpr std::uint32_t kMetadata = 3;
  static constexpr std::uint32_t kTimeSeriesOf2 = 5;
  static constexpr SeriesFields kFields = {.sample = kSampleField, .histogram = 4, .exemplar = 3};

  Result<void> read_series(ProtoReader& request, PointReceiver& to) {
    const BytesView fields = request.bytes();
    const SeriesKey likely = to.likely_series();
    if (likely.grammar == KeyGrammar::kLabelFields && fields.starts_with(likely.tags) &&
        parse_samples(fields.substr(likely.tags.size()))) {
      const std::string_view labels = fields.substr(0, likely.tags.size());
      to.take_likely_series();
      return pass_on(samples_, labels, to);
    }
    return read_any_series(request, to);
  }

  // False: not all fields are plain samples.
  bool parse_samples(BytesView fields) {
    samples_.clear();
    take_plain_samples(fields, samples_);
    return fields.empty() && !samples_.empty();
  }

  // The labels may be anywhere in the series.
  Result<void> read_any_series(ProtoReader& request, PointReceiver& to) {
    labels_ = {};
    const BytesView fields = request.bytes();
    const char* others = nullptr;  // the first field that is no label
    ProtoReader series = request.message();
    while (series.next()) {
      if (series.field() != LabelFields::kLabel) {
        if (others == nullptr) others = series.raw().data();
      } else if (series.wire() == ProtoWire::kBytes) {
        add_label(series.raw());
      } else {
        series.refuse("is no label");
      }
    }
    if (others == nullptr) return {};
    ProtoReader rest = series.again({others, fields.data() + fields.size()});
    return pass_on(Labels(labels_), rest, kFields, to);
  }

  // Usually they lie one behind the other.
  void add_label(BytesView label) {
    if (labels_.empty()) {
      labels_ = label;
    } else if (label.data() == labels_.data() + labels_.size()) {
      labels_ = {labels_.data(), labels_.size() + label.size()};
    } else {
      if (labels_.data() != scattered_.data()) scattered_ = labels_;
      scattered_ += label;
      labels_ = scattered_;
    }
  }

  Result<void> read_metadata(ProtoReader& metadata, PointReceiver& to) {
    MetricMetadata about;
    std::uint64_t type = 0;
    while (metadata.next()) {
      switch (metadata.field()) {
        case 1:
          type = metadata.varint();
          break;
        case 2:
          about.family = metadata.bytes();
          break;
        case 4:
          about.help = metadata.bytes();
          break;
        case 5:
          about.unit = metadata.bytes();
          break;
        default:
          break;
      }
    }
    about.type = metric_type_name(type);
    return pass_on(about, to);
  }

  const BytesView bytes_;
  std::vector<RemoteSample> samples_;  // of the current series
  BytesView labels_;                   // they, too
  std::string scattered_;              // they, if they lie apart
};

}  // namespace

std::unique_ptr<RemoteWriteBody> make_request_v1(BytesView bytes, const IngestLimits& limits) {
  return std::make_unique<RequestV1>(bytes, limits);
}

}  // namespace halite::ingest
