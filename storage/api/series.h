// One series, as everybody sees it: its id, and its names and ids by reference.
//
// What many series have in common is kept once: a metric, a tag, and a whole set of tags, which the
// ten metrics of one host share. A series itself takes 40 bytes.
//
//   Threads   reading from any thread. A name that changes shows in every series at once.
//   Lifetime  as long as the table that made it (series_table.h); where that forgets series, as
//             long as whoever looks at one keeps a SeriesPin from before he was told of it.
//
// Over 140 lines because a series, its tag set and its metric refer to each other.
#pragma once

#include <atomic>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "common/bytes.h"

namespace halite::storage {

using SeriesId = std::uint32_t;
using TagSetId = std::uint32_t;  // dense, of one table

// While it is kept, ids that its holder was given mean what they meant, even if what they mean is
// not found any more.
struct SeriesPin {
  std::uint64_t epoch = 0;
  std::uint64_t series_epoch =
      0;  // what was known of ids in an earlier one is to be looked up again
};

enum class NameKind : std::uint8_t { kMetric, kTagKey, kTagValue };

struct SeriesTag {
  std::string_view key;
  std::string_view value;
  std::uint64_t key_uid = 0;
  std::uint64_t value_uid = 0;
};

// A tag of any number of series.
struct SharedTag {
  std::atomic<const SeriesTag*> tag = nullptr;  // replaced when a name changes
};

// A metric of any number of series.
struct SharedMetric {
  Bytes uid;
  std::atomic<const std::string_view*> name = nullptr;  // replaced when it changes; null: ""
};

// The tags of any number of series, in tagk uid order. Made by TagIndex: pointers to the tags
// follow it in memory, and then the bytes that tsuids have behind the metric uid.
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
  mutable std::atomic<std::uint32_t> series_ = 0;  // that have it
};

inline constexpr TagSet kNoTags;

// A series' tags, as a range of SeriesTag.
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

 private:
  const TagSet* set_ = &kNoTags;
};

// A series' metric: its name.
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

// metric uid + (tagk uid + tagv uid)..., by tagk uid; in two pieces.
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

  // Of one table: all metric uids have the same length.
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

// Made once, never changed while anybody holds it.
struct Series {
  SeriesId id = 0;
  std::uint32_t shard = 0;  // its salt; one series always lives in one shard
  MetricName metric;
  SeriesTags tags;  // in tagk uid order
  Tsuid tsuid;
};

}  // namespace halite::storage
