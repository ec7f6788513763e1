#include "ingest/otlp/remembered_tags.h"

#include <xxhash.h>

namespace halite::ingest {

void RememberedTags::clear() {
  known_.clear();
  tags_.clear();
  next_ = 0;
}

std::optional<std::string_view> RememberedTags::find(BytesView attributes) {
  std::size_t found = next_ < known_.size() ? next_ : 0;
  if (!is_known(found, attributes)) {
    slot_ = XXH3_64bits(attributes.data(), attributes.size()) % kSlots;
    found = slots_[slot_];
    if (!is_known(found, attributes)) return std::nullopt;
  }
  next_ = found + 1;
  return std::string_view(tags_).substr(known_[found].begin, known_[found].size);
}

void RememberedTags::add(BytesView attributes, std::string_view tags) {
  if (known_.size() == kRememberedMax || tags_.size() + tags.size() > kRememberedBytesMax) return;
  slots_[slot_] = static_cast<std::uint16_t>(known_.size());
  known_.push_back({.attributes = attributes, .begin = tags_.size(), .size = tags.size()});
  tags_ += tags;
  next_ = known_.size();
}

}  // namespace halite::ingest
