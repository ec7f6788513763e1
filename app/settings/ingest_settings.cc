// Settings of what comes in: limits of points, and how points of other protocols than OpenTSDB's
// become series.
#include "app/settings/options.h"
#include "app/settings/setting_ranges.h"
#include "common/units.h"

namespace halite::app {
namespace {

constexpr int kSeriesTagsMax = 255;  // the key of a chunk has one byte for their number

void declare_writer(Config& config, ingest::IngestOptions& options) {
  ingest::IngestLimits& limits = options.limits;
  config.count("ingest.tags_max", limits.tags_max, {1, kSeriesTagsMax}, "tags",
               "Maximum tags per point.");
  config.bytes("ingest.name_bytes_max", limits.name_bytes_max, {1, 32'767},
               "Maximum length of a metric, tag key or tag value.");
  config.count("ingest.points_per_request_max", limits.points_per_request_max, kAtLeastOne,
               "points", "Maximum points in one HTTP body.");
  config.count("ingest.json_depth_max", limits.json_depth_max, {2, 1024}, "levels",
               "Maximum nesting depth of a JSON body.");
  config.bytes(
      "ingest.series_cache_bytes_max", limits.series_cache_bytes_max, {kMiB, 1024 * kGiB},
      "Memory for the cache of recently written series. Counters have another of an eighth "
      "of this size.");
  config.count(
      "ingest.telnet_batch_points_max", limits.telnet_batch_points_max, {1, 1'000'000}, "points",
      "Maximum points of one telnet connection that are passed to the store in one batch.");
  config.bytes("ingest.telnet_batch_bytes_max", limits.telnet_batch_bytes_max, {64 << 10, kGiB},
               "Maximum bytes of new names in one batch of telnet points.");
  config.flag("ingest.telnet_storage_errors", options.telnet_storage_errors,
              "Reports storage errors to telnet clients.");
  config.count("ingest.refused_samples_max", limits.refused_samples_max, {0, 100'000}, "points",
               "Recent refused points kept for the status page.");
  config.bytes("ingest.refused_sample_bytes_max", limits.refused_sample_bytes_max, {1, kMiB},
               "Maximum bytes kept of each refused-point sample.");
  config.count("ingest.refused_log_lines_max", limits.refused_log_lines_max, {0, 1'000'000},
               "lines",
               "Maximum refused points from HTTP bodies that are logged per second. 0 = none.");
  config.flag("ingest.create_metrics", options.create.metrics, "Creates a metric on first use.");
  config.flag("ingest.create_tag_keys", options.create.tag_keys, "Creates a tag key on first use.");
  config.flag("ingest.create_tag_values", options.create.tag_values,
              "Creates a tag value on first use.");
  config.text("ingest.special_characters", options.special_characters,
              "Characters allowed in names in addition to letters, digits and -_./");
}

void declare_protocols(Config& config, Options& options) {
  config.text("influx.separator", options.web.influx.influx_separator,
              "What is between measurement and field in the metric of InfluxDB's lines.");
  config.text("influx.value_field", options.web.influx.influx_value_field,
              "The field of InfluxDB's lines whose metric is the measurement alone. Empty = none.");
  config.text(
      "otlp.resource_attributes", options.otlp_resource_attributes,
      "Attributes of OTLP's resources that become tags: a comma-separated list of keys, for "
      "example host.name,k8s.pod.name. service.name and service.instance.id always become "
      "job and instance.");
  config.text("graphite.listen", options.graphite_listen,
              "Address and port for Graphite's plain text. Any client that reaches it can write. "
              "Empty = off.");
  config.text("graphite.pickle_listen", options.graphite_pickle_listen,
              "Address and port for Graphite's pickle protocol. Any client that reaches it can "
              "write. Empty = off.");
  config.text("graphite.templates", options.graphite_templates,
              "Templates that turn words of Graphite's paths into tags, separated by semicolons: "
              "\"[filter] template [tag=value,..]\". Empty = none.");
}

}  // namespace

void declare_ingest(Config& config, Options& options) {
  declare_writer(config, options.ingest);
  declare_protocols(config, options);
}

}  // namespace halite::app
