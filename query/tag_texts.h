// The tags of an output series as text, by key. They share one allocation, because an answer with
// many groups consists mostly of tags.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <iterator>
#include <string>
#include <string_view>
#include <utility>

namespace halite::query {

class TagTexts {
 public:
  using KeyValue = std::pair<std::string_view, std::string_view>;  // key, value

  class Iterator {
   public:
    using iterator_concept = std::forward_iterator_tag;
    using iterator_category = std::input_iterator_tag;
    using value_type = KeyValue;
    using difference_type = std::ptrdiff_t;
    using reference = KeyValue;
    struct Pointer {
      KeyValue tag;
      const KeyValue* operator->() const { return &tag; }
    };
    using pointer = Pointer;

    Iterator() = default;
    KeyValue operator*() const {
      const Sizes sizes = sizes_at(at_);
      const char* const key = at_ + sizeof(Sizes);
      return {{key, sizes.key}, {key + sizes.key, sizes.value}};
    }
    Pointer operator->() const { return {**this}; }
    Iterator& operator++() {
      const Sizes sizes = sizes_at(at_);
      at_ += sizeof(Sizes) + sizes.key + sizes.value;
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator&) const = default;

   private:
    friend class TagTexts;
    explicit Iterator(const char* at) : at_(at) {}
    const char* at_ = nullptr;
  };

  TagTexts() = default;
  TagTexts(std::initializer_list<KeyValue> tags) {
    for (const auto& [key, value] : tags) emplace(key, value);
  }

  // The memory of a tag: see reserve().
  [[nodiscard]] static std::size_t bytes_of(std::string_view key, std::string_view value) {
    return sizeof(Sizes) + key.size() + value.size();
  }
  void reserve(std::size_t bytes) { bytes_.reserve(bytes); }
  void clear() { *this = {}; }

  // Does nothing if the key exists. Fastest in the order of keys.
  void emplace(std::string_view key, std::string_view value) {
    if (!empty() && key <= (*Iterator(bytes_.data() + last_)).first) {
      const Iterator place = lower_bound(key);
      if ((*place).first == key) return;
      std::string tag(bytes_of(key, value), '\0');
      write(tag.data(), key, value);
      bytes_.insert(static_cast<std::size_t>(place.at_ - bytes_.data()), tag);
      last_ += tag.size();
      return;
    }
    last_ = bytes_.size();
    const std::size_t end = last_ + bytes_of(key, value);
    // Not the size that the function gets: in libstdc++ 12 it is sometimes greater than `end`.
    bytes_.resize_and_overwrite(end, [this, key, value, end](char* bytes, std::size_t /*size*/) {
      write(bytes + last_, key, value);
      return end;
    });
  }

  // Returns end() if the key does not exist.
  [[nodiscard]] Iterator find(std::string_view key) const {
    const Iterator place = lower_bound(key);
    return place != end() && (*place).first == key ? place : end();
  }

  [[nodiscard]] Iterator begin() const { return Iterator(bytes_.data()); }
  [[nodiscard]] Iterator end() const { return Iterator(bytes_.data() + bytes_.size()); }
  [[nodiscard]] std::size_t size() const {
    return static_cast<std::size_t>(std::ranges::distance(begin(), end()));
  }
  [[nodiscard]] bool empty() const { return bytes_.empty(); }

 private:
  // Before the texts of each tag.
  struct Sizes {
    std::uint32_t key = 0;
    std::uint32_t value = 0;
  };
  static void write(char* to, std::string_view key, std::string_view value) {
    const Sizes sizes{.key = static_cast<std::uint32_t>(key.size()),
                      .value = static_cast<std::uint32_t>(value.size())};
    std::memcpy(to, &sizes, sizeof(sizes));
    key.copy(to + sizeof(sizes), key.size());
    value.copy(to + sizeof(sizes) + key.size(), value.size());
  }
  static Sizes sizes_at(const char* at) {
    Sizes sizes;
    std::memcpy(&sizes, at, sizeof(sizes));
    return sizes;
  }
  [[nodiscard]] Iterator lower_bound(std::string_view key) const {
    Iterator place = begin();
    while (place != end() && (*place).first < key) ++place;
    return place;
  }

  std::string bytes_;
  std::size_t last_ = 0;  // the place of the last tag, if there is one
};

}  // namespace halite::query
