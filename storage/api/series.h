// A series: its id, and references to its names and UIDs.
//
// Series share what they have in common: a metric, a tag, and a tag set, which for example the ten
// metrics of one host share. A series itself takes 40 bytes.
//
//   Threads   read from any thread. A renamed name shows in every series at once.
//   Lifetime  the table that made it (series_table.h) must outlive it. If the table removes series,
//             acquire a SeriesPin before you obtain a series, and keep it while you use the series.
//
// Over 140 lines because a series, its tag set and its metric refer to each other.
#pragma once

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "common/bytes/bytes.h"

namespace halite::storage {

using SeriesId = std::uint32_t;
using TagSetId = std::uint32_t;  // dense, unique within one table

// While you keep a pin, ids that you obtain keep their meaning, even if the series is removed.
struct SeriesPin {
  std::uint64_t epoch = 0;
  std::uint64_t series_epoch = 0;  // results about ids from an earlier one are stale
};

enum class NameKind : std::uint8_t { kMetric, kTagKey, kTagValue };

struct SeriesTag {
  std::string_view key;
  std::string_view value;
  std::uint64_t key_uid = 0;
  std::uint64_t value_uid = 0;
};

// A tag that series share.
struct SharedTag {
  std::atomic<const SeriesTag*> tag = nullptr;  // replaced when a name changes
};

// A metric that series share.
struct SharedMetric {
  Bytes uid;
  std::atomic<const std::string_view*> name = nullptr;  // replaced when it changes; null = ""
};

// A tag set that series share, in tagk uid order. Made by TagIndex, which places behind it in
// memory the pointers to the tags, then the part of the tsuid after the metric uid.
class TagSet {
 public:
  constexpr TagSet() = default;
  TagSet(const TagSet&) = delete;
  TagSet& operator=(const TagSet&) = delete;

  [[nodiscard]] TagSetId id() const { return id_; }
  [[nodiscard]] std::uint32_t size() const { return size_; }
  [[nodiscard]] const SharedTag* const* tags() const {
    return reinterpret_cast<const SharedTag* const*>(this + 1);
  }
  [[nodiscard]] BytesView bytes() const {
    return {reinterpret_cast<const char*>(tags() + size_), bytes_};
  }

 private:
  friend class TagIndex;
  TagSetId id_ = 0;
  std::uint32_t hash_ = 0;
  std::uint16_t size_ = 0;
  std::uint16_t bytes_ = 0;
  mutable std::atomic<std::uint32_t> series_ = 0;  // number of series with this tag set
};

inline constexpr TagSet kNoTags;

// The tags of a series, as a range of SeriesTag.
class SeriesTags {
 public:
  SeriesTags() = default;
  explicit SeriesTags(const TagSet& set) : set_(&set) {}

  class Iterator {
   public:
    using iterator_concept = std::forward_iterator_tag;
    using value_type = SeriesTag;
    using difference_type = std::ptrdiff_t;
    using reference = const SeriesTag&;
    using pointer = const SeriesTag*;

    Iterator() = default;
    explicit Iterator(const SharedTag* const* at) : at_(at) {}
    const SeriesTag& operator*() const { return *(*at_)->tag.load(std::memory_order_acquire); }
    const SeriesTag* operator->() const { return &**this; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(at_++); }
    bool operator==(const Iterator&) const = default;

   private:
    const SharedTag* const* at_ = nullptr;
  };

  [[nodiscard]] Iterator begin() const { return Iterator(set_->tags()); }
  [[nodiscard]] Iterator end() const { return Iterator(set_->tags() + set_->size()); }
  [[nodiscard]] std::size_t size() const { return set_->size(); }
  [[nodiscard]] bool empty() const { return size() == 0; }
  [[nodiscard]] const SeriesTag& operator[](std::size_t i) const {
    return *Iterator(set_->tags() + i);
  }
  [[nodiscard]] const SeriesTag& front() const { return (*this)[0]; }
  [[nodiscard]] const TagSet& set() const { return *set_; }

  // For those who read the tags of many series: call the first for all of them, then the second.
  void prefetch_shared() const {
    for (std::size_t i = 0; i < size(); ++i) __builtin_prefetch(set_->tags()[i]);
  }
  void prefetch_tags() const {
    for (const SeriesTag& tag : *this) __builtin_prefetch(&tag);
  }

 private:
  const TagSet* set_ = &kNoTags;
};

// The name of a series' metric.
class MetricName {
 public:
  MetricName() = default;
  explicit MetricName(const SharedMetric& metric) : metric_(&metric) {}

  [[nodiscard]] std::string_view text() const {
    const std::string_view* const name =
        metric_ == nullptr ? nullptr : metric_->name.load(std::memory_order_acquire);
    return name == nullptr ? std::string_view() : *name;
  }
  operator std::string_view() const { return text(); }  // NOLINT(google-explicit-constructor)
  bool operator==(std::string_view other) const { return text() == other; }

 private:
  const SharedMetric* metric_ = nullptr;
};

// metric uid + (tagk uid + tagv uid)..., ordered by tagk uid; stored in two parts.
class Tsuid {
 public:
  Tsuid() = default;
  Tsuid(const SharedMetric& metric, const TagSet& tags) : metric_(&metric), tags_(&tags) {}

  [[nodiscard]] BytesView metric() const {
    return metric_ == nullptr ? BytesView() : BytesView(metric_->uid);
  }
  [[nodiscard]] BytesView tags() const { return tags_->bytes(); }
  [[nodiscard]] std::size_t size() const { return metric().size() + tags().size(); }

  void append_to(Bytes& to) const {
    to.append(metric());
    to.append(tags());
  }
  [[nodiscard]] Bytes bytes() const {
    Bytes all;
    all.reserve(size());
    append_to(all);
    return all;
  }
  operator Bytes() const { return bytes(); }  // NOLINT(google-explicit-constructor)

  // Compares tsuids of one table only: all metric uids have the same length.
  bool operator==(const Tsuid& other) const {
    return metric() == other.metric() && tags() == other.tags();
  }
  std::strong_ordering operator<=>(const Tsuid& other) const {
    const auto metrics = metric() <=> other.metric();
    return metrics != 0 ? metrics : tags() <=> other.tags();
  }

 private:
  const SharedMetric* metric_ = nullptr;
  const TagSet* tags_ = &kNoTags;
};

// Does not change while a pin keeps it.
struct Series {
  SeriesId id = 0;
  std::uint32_t shard = 0;  // its salt; never changes
  MetricName metric;
  SeriesTags tags;  // in tagk uid order
  Tsuid tsuid;
};

}  // namespace halite::storage
