// Settings of protocols other than OpenTSDB's: how their points become series.
#include "app/settings/options.h"

namespace halite::app {

void declare_protocols(Config& config, Options& options) {
  config.text("influx.separator", options.web.influx.influx_separator,
              "What is between measurement and field in the metric of InfluxDB's lines.");
  config.text("influx.value_field", options.web.influx.influx_value_field,
              "The field of InfluxDB's lines whose metric is the measurement alone. Empty = none.");
  config.text(
      "otlp.resource_attributes", options.web.otlp_resource_attributes,
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

}  // namespace halite::app
