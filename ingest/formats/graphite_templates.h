// Templates that cut a Graphite path into metric and tags, as InfluxDB and Telegraf have them:
// "[filter] template [tag=v,..]".
//
//   servers.* .host.resource.measurement* dc=lga
//   servers.a.cpu.load.10  ->  load.10{dc=lga,host=a,resource=cpu}
//
// The words of a template stand at the dots of the path: "measurement" and "measurement*" (this
// word and the rest) are the metric, "field" and "field*" are added to it as InfluxDB's fields are,
// an empty word is skipped, any other word is a tag key. Parts of one name are joined by dots.
//
//   Threads  immutable: any number at a time.
#pragma once

#include <cstddef>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

#include "common/data_point.h"
#include "ingest/formats/names.h"

namespace halite::ingest {

class GraphiteTemplates {
 public:
  static constexpr std::size_t kTemplatesMax = 1'000;
  static constexpr std::size_t kWordsMax = 64;  // of a template; also of a filter

  // Of a text with ';' or line feeds between the templates. The error names the template and says
  // what is wrong with it.
  [[nodiscard]] static std::expected<GraphiteTemplates, std::string> parse(std::string_view text);

  [[nodiscard]] bool empty() const { return templates_.empty(); }

  // Of one thread, used again so that a path allocates nothing.
  struct Buffers {
    std::vector<std::string_view> words;
    std::string metric;
    std::string value;
  };
  // Applies the template whose filter fits best: word by word, a name before '*', and a longer
  // filter before a shorter one. False: none fits, or the path has no word for the metric. `path`
  // has no zero byte.
  [[nodiscard]] bool apply(std::string_view path, Buffers& buffers, NamesKey& to) const;

 private:
  // Where a part of the series comes from: words of the path, in order.
  struct Source {
    std::string key;  // of the tag; empty for metric and field
    std::vector<std::size_t> words;
    bool rest = false;  // all words behind the last one, too
  };
  struct Template {
    std::vector<std::string> filter;  // empty: the default
    Source measurement;
    Source field;
    std::vector<Source> tags;
    std::vector<Tag> defaults;
  };

  [[nodiscard]] static std::expected<Template, std::string> parse_one(std::string_view text);
  [[nodiscard]] static bool fits(const Template& one, const std::vector<std::string_view>& words);
  // Appends the words that the path has.
  static void append(const Source& source, const std::vector<std::string_view>& words,
                     std::string& to);

  std::vector<Template> templates_;  // those that fit better first
};

}  // namespace halite::ingest
