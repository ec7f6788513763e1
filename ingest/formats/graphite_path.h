// The series that a Graphite path names: "a.b", "a.b;k=v;k2=v2", or with the labels of OpenMetrics,
// a.b{k="v"}. For ingest/formats and ingest/graphite.
//
// A path without tags is the metric, as it is, unless a template fits it.
#pragma once

#include <expected>
#include <memory>
#include <string>
#include <string_view>

#include "common/data_point.h"
#include "ingest/formats/graphite_templates.h"
#include "ingest/formats/names.h"
#include "ingest/options.h"
#include "ingest/rules/refusal.h"
#include "ingest/series_cache/series_key.h"

namespace halite::ingest {

class GraphitePath {
 public:
  // Without templates: null or an empty list.
  GraphitePath(std::shared_ptr<const GraphiteTemplates> templates, const IngestLimits& limits)
      : limits_(limits), templates_(std::move(templates)) {}

  // Whether `known`, a key that key() made, is that of the path; much faster than key(). May be
  // false for one that is: a path name{..}, or one without tags if there are templates.
  [[nodiscard]] bool is_path_of(const SeriesKey& known, std::string_view path) const;

  // The key of the path's series, or why it has none. The key is valid until the next call and as
  // long as the path. A known series allocates nothing.
  [[nodiscard]] std::expected<SeriesKey, std::string> key(std::string_view path);

  // The series that such a key names, or why it is refused.
  [[nodiscard]] std::expected<SeriesName, Refused> series_name(const SeriesKey& key) const;

 private:
  [[nodiscard]] bool has_templates() const { return templates_ != nullptr && !templates_->empty(); }

  const IngestLimits limits_;
  const std::shared_ptr<const GraphiteTemplates> templates_;
  GraphiteTemplates::Buffers buffers_;
  NamesKey names_;
};

// Appends a path that names the series, if there is one.
void append_graphite_path(std::string& to, const SeriesName& name);

}  // namespace halite::ingest
