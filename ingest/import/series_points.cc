#include "ingest/import/series_points.h"

namespace halite::ingest {

std::string text_of(const SeriesName& name) {
  std::string text = name.metric;
  for (const Tag& tag : name.tags) text.append(" ").append(tag.key).append("=").append(tag.value);
  return text;
}

}  // namespace halite::ingest
