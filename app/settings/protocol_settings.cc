// Settings of protocols other than OpenTSDB's: how their points become series.
#include "app/settings/options.h"

namespace halite::app {

void declare_protocols(Config& config, web::WebOptions& options) {
  config.text("influx.separator", options.influx.influx_separator,
              "What is between measurement and field in the metric of InfluxDB's lines.");
  config.text("influx.value_field", options.influx.influx_value_field,
              "The field of InfluxDB's lines whose metric is the measurement alone. Empty = none.");
  config.text(
      "otlp.resource_attributes", options.otlp_resource_attributes,
      "Attributes of OTLP's resources that become tags: a comma-separated list of keys, for "
      "example host.name,k8s.pod.name. service.name and service.instance.id always become "
      "job and instance.");
}

}  // namespace halite::app
