// All handlers, one in each file. The top of each file describes parameters and answers.
#pragma once

#include <optional>
#include <string_view>

#include <boost/asio/awaitable.hpp>

#include "web/endpoint.h"

namespace halite::web {

boost::asio::awaitable<Response> handle_put(Call& call);                  // put.cc
boost::asio::awaitable<Response> handle_incr(Call& call);                 // incr.cc
boost::asio::awaitable<Response> handle_remote_write(Call& call);         // remote_write.cc
boost::asio::awaitable<Response> handle_rollup(Call& call);               // rollup.cc
boost::asio::awaitable<Response> handle_histogram(Call& call);            // histogram.cc
boost::asio::awaitable<Response> handle_influx_write(Call& call);         // influx_write.cc
boost::asio::awaitable<Response> handle_influx_ping(Call& call);          // influx_companions.cc
boost::asio::awaitable<Response> handle_influx_health(Call& call);        // influx_companions.cc
boost::asio::awaitable<Response> handle_influx_query(Call& call);         // influx_companions.cc
boost::asio::awaitable<Response> handle_import_prometheus(Call& call);    // import_lines.cc
boost::asio::awaitable<Response> handle_import_vmjson(Call& call);        // import_lines.cc
boost::asio::awaitable<Response> handle_export(Call& call);               // export.cc
boost::asio::awaitable<Response> handle_otlp(Call& call);                 // otlp.cc
std::optional<Response> check_otlp(const Call& call);                     // otlp.cc
boost::asio::awaitable<Response> handle_query(Call& call);                // query.cc
boost::asio::awaitable<Response> handle_query_exp(Call& call);            // query_exp.cc
boost::asio::awaitable<Response> handle_query_explain(Call& call);        // query_explain.cc
boost::asio::awaitable<Response> handle_query_gexp(Call& call);           // query_gexp.cc
boost::asio::awaitable<Response> handle_query_last(Call& call);           // query_last.cc
boost::asio::awaitable<Response> handle_graph(Call& call);                // graph.cc
boost::asio::awaitable<Response> handle_admin(Call& call);                // admin.cc
boost::asio::awaitable<Response> handle_suggest(Call& call);              // suggest.cc
boost::asio::awaitable<Response> handle_search(Call& call);               // search.cc
boost::asio::awaitable<Response> handle_series(Call& call);               // series.cc
boost::asio::awaitable<Response> handle_aggregators(Call& call);          // aggregators.cc
boost::asio::awaitable<Response> handle_config(Call& call);               // config.cc
boost::asio::awaitable<Response> handle_version(Call& call);              // version.cc
boost::asio::awaitable<Response> handle_views(Call& call);                // views.cc
boost::asio::awaitable<Response> handle_stats(Call& call);                // stats.cc
boost::asio::awaitable<Response> handle_server(Call& call);               // server.cc
boost::asio::awaitable<Response> show_regions(Call& call);                // server_regions.cc
boost::asio::awaitable<Response> handle_dropcaches(Call& call);           // dropcaches.cc
boost::asio::awaitable<Response> handle_logs(Call& call);                 // logs.cc
boost::asio::awaitable<Response> handle_metric_families(Call& call);      // metric_families.cc
boost::asio::awaitable<Response> handle_promql_query(Call& call);         // promql_query.cc
boost::asio::awaitable<Response> handle_promql_query_range(Call& call);   // promql_query.cc
boost::asio::awaitable<Response> handle_format_query(Call& call);         // promql_text.cc
boost::asio::awaitable<Response> handle_parse_query(Call& call);          // promql_text.cc
boost::asio::awaitable<Response> handle_query_exemplars(Call& call);      // promql_text.cc
boost::asio::awaitable<Response> handle_promql_series(Call& call);        // promql_series.cc
boost::asio::awaitable<Response> handle_promql_labels(Call& call);        // promql_series.cc
boost::asio::awaitable<Response> handle_promql_label_values(Call& call);  // promql_series.cc
boost::asio::awaitable<Response> handle_prometheus_status(Call& call);    // prometheus_status.cc
boost::asio::awaitable<Response> handle_prometheus_rules(Call& call);     // prometheus_status.cc
boost::asio::awaitable<Response> handle_prometheus_targets(Call& call);   // prometheus_status.cc
boost::asio::awaitable<Response> handle_prometheus_admin(Call& call);     // prometheus_status.cc
boost::asio::awaitable<Response> handle_federate(Call& call);             // federate.cc
boost::asio::awaitable<Response> handle_remote_read(Call& call);          // remote_read.cc
boost::asio::awaitable<Response> handle_metrics(Call& call);              // metrics.cc
boost::asio::awaitable<Response> handle_health(Call& call);               // health.cc
boost::asio::awaitable<Response> handle_page(Call& call);                 // page.cc
boost::asio::awaitable<Response> handle_static(Call& call);               // page.cc
boost::asio::awaitable<Response> handle_annotation(Call& call);           // annotation.cc
boost::asio::awaitable<Response> handle_annotations(Call& call);          // annotations.cc
boost::asio::awaitable<Response> handle_annotation_bulk(Call& call);      // annotation_bulk.cc
boost::asio::awaitable<Response> handle_uid(Call& call);                  // uid.cc
boost::asio::awaitable<Response> handle_uid_assign(Call& call);           // uid_assign.cc
boost::asio::awaitable<Response> handle_uid_rename(Call& call);           // uid_rename.cc
boost::asio::awaitable<Response> handle_uid_meta(Call& call);             // uid_meta.cc
boost::asio::awaitable<Response> handle_ts_meta(Call& call);              // ts_meta.cc
boost::asio::awaitable<Response> handle_tree(Call& call);                 // tree.cc
boost::asio::awaitable<Response> handle_tree_branch(Call& call);          // tree_branch.cc
boost::asio::awaitable<Response> handle_tree_rule(Call& call);            // tree_rule.cc
boost::asio::awaitable<Response> handle_tree_rules(Call& call);           // tree_rules.cc
boost::asio::awaitable<Response> handle_tree_trial(Call& call);           // tree_trial.cc
boost::asio::awaitable<Response> handle_tree_collisions(Call& call);      // tree_failures.cc
boost::asio::awaitable<Response> handle_tree_not_matched(Call& call);     // tree_failures.cc

// Refusals before the body is decompressed.
[[nodiscard]] std::optional<Response> check_remote_write(const Call& call);

}  // namespace halite::web
