// Tags of data points by the bytes of their attributes: the data points of a resource's metrics
// tend to have the same attributes, and often in the same order. Private to ingest/otlp.
//
//   Lifetime   the attributes' bytes outlive the object, or the next call of clear().
//   Memory     up to kRememberedMax data points, and kRememberedBytesMax of tags.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/bytes/bytes.h"

namespace halite::ingest {

inline constexpr std::size_t kRememberedMax = 1024;
inline constexpr std::size_t kRememberedBytesMax = std::size_t{1} << 20;

class RememberedTags {
 public:
  // Forgets all: other tags of the resource come next.
  void clear();

  // The tags of an earlier data point with these attributes; valid until the next call.
  [[nodiscard]] std::optional<std::string_view> find(BytesView attributes);
  // After a find() of these attributes that found nothing. Does nothing if there is no room.
  void add(BytesView attributes, std::string_view tags);

 private:
  struct Known {
    BytesView attributes;
    std::size_t begin = 0;  // of its tags in tags_
    std::size_t size = 0;
  };
  static constexpr std::size_t kSlots = 2 * kRememberedMax;  // a power of two

  [[nodiscard]] bool is_known(std::size_t i, BytesView attributes) const {
    return i < known_.size() && known_[i].attributes == attributes;
  }

  std::vector<Known> known_;
  std::string tags_;
  std::size_t next_ = 0;  // in known_: what probably comes next
  // Where in known_ the attributes may be, by a hash. One replaces another; clear() leaves them.
  std::array<std::uint16_t, kSlots> slots_{};
  std::size_t slot_ = 0;  // of the last find() that found nothing
};

}  // namespace halite::ingest
