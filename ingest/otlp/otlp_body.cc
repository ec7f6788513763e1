#include "ingest/otlp/otlp_body.h"

#include <utility>

#include "common/bytes/bytes.h"
#include "common/bytes/proto_reader.h"
#include "ingest/formats/names.h"
#include "ingest/otlp/attributes.h"
#include "ingest/otlp/json_to_protobuf.h"
#include "ingest/otlp/metric_reader.h"

namespace halite::ingest {
namespace {

// Reads a Resource, the current field of the reader.
void add_attributes(ProtoReader& field, Attributes& attributes) {
  for (ProtoReader resource = field.message(); resource.next();) {
    if (resource.field() == 1) attributes.add(resource.message());
  }
}

// Its fields may come in any order, and the metrics need the resource.
void read_resource_metrics(ProtoReader& field, Attributes& attributes, MetricReader& metrics) {
  attributes.clear();
  for (ProtoReader group = field.message(); group.next();) {
    if (group.field() == 1) add_attributes(group, attributes);
  }
  metrics.set_resource(attributes);
  for (ProtoReader group = field.message(); group.next();) {
    if (group.field() != 2) continue;
    for (ProtoReader scope = group.message(); scope.next();) {
      if (scope.field() == 2) metrics.read(scope);
    }
  }
}

class OtlpBody final : public PointBody {
 public:
  OtlpBody(OtlpEncoding encoding, std::string_view body, OtlpOptions options)
      : encoding_(encoding), body_(body), options_(std::move(options)) {}

  Result<void> read(PointReceiver& to) override {
    if (encoding_ == OtlpEncoding::kProtobuf) return read_protobuf(body_, to);
    TRY(const Bytes protobuf, otlp_json_to_protobuf(body_, options_.limits));
    return read_protobuf(protobuf, to);
  }

  [[nodiscard]] std::expected<SeriesName, Refused> series_name(
      const SeriesKey& key) const override {
    return free_series(std::string(key.metric), tags_of_names(key.tags), options_.limits);
  }

 private:
  Result<void> read_protobuf(BytesView body, PointReceiver& to) const {
    ProtoFault fault;
    Attributes attributes;
    MetricReader metrics(options_.limits, options_.resource_attributes, to);
    for (ProtoReader request(body, fault); request.next();) {
      if (request.field() == 1) read_resource_metrics(request, attributes, metrics);
    }
    if (fault) return fail(Errc::kInvalidArgument, "not an OTLP request: " + fault.text());
    return {};
  }

  const OtlpEncoding encoding_;
  const std::string_view body_;
  const OtlpOptions options_;
};

}  // namespace

std::unique_ptr<PointBody> make_otlp_body(OtlpEncoding encoding, std::string_view body,
                                          OtlpOptions options) {
  return std::make_unique<OtlpBody>(encoding, body, std::move(options));
}

}  // namespace halite::ingest
