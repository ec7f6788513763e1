// Settings of protocols other than OpenTSDB's: how their points become series.
#include "app/settings/options.h"

namespace halite::app {

void declare_protocols(Config& config, web::WebOptions& options) {
  config.text("influx.separator", options.influx.influx_separator,
              "What is between measurement and field in the metric of InfluxDB's lines.");
  config.text("influx.value_field", options.influx.influx_value_field,
              "The field of InfluxDB's lines whose metric is the measurement alone. Empty = none.");
}

}  // namespace halite::app
