// Tags of series from the attributes of a resource and of its data points, as Prometheus makes
// labels of them, in the bytes of a key of KeyGrammar::kNames. Private to ingest/otlp.
//
//   Resource     service.name, with "service.namespace/" before it, is `job`; service.instance.id
//                is `instance`. Both replace attributes that get these names.
//   Promoted     other attributes of the resource that were chosen, under their own names. An
//                attribute of the data point that gets an equal name counts instead.
//   Data point   all attributes. The values of keys that get one name are joined, "v1;v2", in the
//                order of the keys.
//   Empty        values make no tag.
//
// Data points in a row tend to have the same keys: their names are made once.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/data_point.h"
#include "ingest/options.h"
#include "ingest/otlp/attributes.h"

namespace halite::ingest {

class SeriesLabels {
 public:
  SeriesLabels(const IngestLimits& limits, std::vector<std::string> promoted);

  // The resource of the next data points.
  void set_resource(const Attributes& attributes);

  // Makes the tags of a data point. `own` is the label that put() will add, "" for none; an
  // attribute does not get its name. Returns why the data point is refused.
  [[nodiscard]] std::optional<std::string> set(const Attributes& attributes, std::string_view own);

  // Adds a label behind those of set(). A second call replaces it.
  void put(std::string_view label, std::string_view value) {
    tags_.resize(set_bytes_);
    append(label, value);
  }
  // Removes what put() added.
  void remove_put() { tags_.resize(set_bytes_); }

  [[nodiscard]] std::string_view tags() const { return tags_; }

 private:
  struct Label {
    std::string key;  // of the attribute
    std::string name;
    bool dropped = false;
  };

  void append(std::string_view label, std::string_view value) {
    tags_ += label;
    tags_ += '\0';
    tags_ += value;
    tags_ += '\0';
  }
  [[nodiscard]] bool has_known_keys(const Attributes& attributes, std::string_view own) const;
  // Names the keys of these attributes.
  void learn_keys(const Attributes& attributes, std::string_view own);
  [[nodiscard]] bool is_dropped(std::string_view label, std::string_view own) const;
  // Makes tags_, of up to `bytes_max` bytes.
  void append_all(const Attributes& attributes, std::size_t bytes_max);
  void append_merged(const Attributes& attributes);

  const std::size_t tags_max_;
  const std::size_t bytes_max_;  // of tags_
  const std::vector<std::string> promoted_keys_;

  // Of the resource.
  std::string job_;
  std::string instance_;
  std::vector<Tag> promoted_;
  std::string resource_tags_;
  std::optional<std::string> resource_wrong_;

  // The names of the last data point's keys.
  std::vector<Label> labels_;
  std::size_t known_ = 0;  // of labels_; others keep their memory
  std::string own_;
  bool are_distinct_ = false;  // no two names are equal, and none is promoted
  std::optional<std::string> keys_wrong_;

  std::string tags_;
  std::size_t set_bytes_ = 0;  // of tags_, without what put() added
};

}  // namespace halite::ingest
