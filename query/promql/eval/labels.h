// The labels of an element of a vector, the metric's name __name__ among them.
//
//   Lifetime  texts belong to the store, pinned by the query's selections, to the expression, or to
//             a TextArena.
//   Threads   as a std::vector.
#pragma once

#include <array>
#include <compare>
#include <deque>
#include <initializer_list>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"
#include "query/selector/label_matcher.h"
#include "storage/api/series.h"

namespace halite::query::promql {

// What most operations remove: the metric's name, its type and its unit.
inline constexpr std::array<std::string_view, 3> kNameLabels = {kMetricLabel, "__type__",
                                                                "__unit__"};

struct Label {
  std::string_view name;
  std::string_view value;

  bool operator==(const Label& other) const {
    return (is_same(name, other.name) || name == other.name) &&
           (is_same(value, other.value) || value == other.value);
  }
  std::strong_ordering operator<=>(const Label& other) const {
    if (!is_same(name, other.name) && name != other.name) return name <=> other.name;
    return is_same(value, other.value) ? std::strong_ordering::equal : value <=> other.value;
  }

 private:
  // Most labels that are compared are of one store, which keeps each text once.
  static bool is_same(std::string_view a, std::string_view b) {
    return a.data() == b.data() && a.size() == b.size();
  }
};

// How many of kNameLabels the labels of a stored series are, with its metric.
[[nodiscard]] std::size_t name_labels(const storage::Series& series);

// Keeps texts that an evaluation makes, for example those of label_replace().
class TextArena {
 public:
  explicit TextArena(std::size_t bytes_max = std::numeric_limits<std::size_t>::max())
      : bytes_max_(bytes_max) {}

  std::string_view keep(std::string text) {
    bytes_ += sizeof(std::string) + text.size();
    return texts_.emplace_back(std::move(text));
  }
  // kTooLarge: there is no room for so many bytes more.
  [[nodiscard]] Result<void> check_room(std::size_t bytes) const {
    if (bytes_ <= bytes_max_ && bytes <= bytes_max_ - bytes_) return {};
    return fail(Errc::kTooLarge,
                "the texts of labels need more memory than a query may have "
                "(query.bytes_max)");
  }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  const std::size_t bytes_max_;
  std::size_t bytes_ = 0;
  std::deque<std::string> texts_;
};

// Appends a part of a key: with its size before it, so that only equal parts make equal keys.
void append_key_part(std::string& to, std::string_view part);

// In the order of names, each once, without empty values.
class Labels {
 public:
  Labels() = default;
  // In any order, without duplicates.
  explicit Labels(std::vector<Label> labels);
  Labels(std::initializer_list<Label> labels) : Labels(std::vector<Label>(labels)) {}
  // Those of a stored series, with its metric.
  [[nodiscard]] static Labels of(const storage::Series& series);

  [[nodiscard]] auto begin() const { return labels_.begin(); }
  [[nodiscard]] auto end() const { return labels_.end(); }
  [[nodiscard]] std::size_t size() const { return labels_.size(); }
  [[nodiscard]] bool empty() const { return labels_.empty(); }

  // "" if it has none.
  [[nodiscard]] std::string_view get(std::string_view name) const;

  // An empty value removes the label.
  void set(std::string_view name, std::string_view value);
  void erase(std::string_view name);
  void drop_name();  // erases kNameLabels
  // Keeps only these, or all but these. `names` are sorted.
  void keep_only(std::span<const std::string> names);
  void erase_all(std::span<const std::string> names);

  // Appends bytes that are equal for equal labels only.
  void append_key(std::string& to) const;
  [[nodiscard]] std::string key() const;

  // {__name__="m", a="b"}, as Prometheus' messages show it.
  [[nodiscard]] std::string text() const;

  auto operator<=>(const Labels&) const = default;

 private:
  std::vector<Label> labels_;
};

}  // namespace halite::query::promql
