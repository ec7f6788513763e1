#include "storage/backends/rocks/inspect/damage_search.h"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace halite::storage::rocks {
namespace {

// The length of the keys in the search, unless `from` is longer.
constexpr std::size_t kSearchedBytesMin = 64;

// (a + b) / 2 of two numbers of one length.
Bytes between(const Bytes& a, const Bytes& b) {
  Bytes middle(a.size(), '\0');
  unsigned carry = 0;
  for (std::size_t i = a.size(); i-- > 0;) {
    carry += static_cast<unsigned char>(a[i]);
    carry += static_cast<unsigned char>(b[i]);
    middle[i] = static_cast<char>(carry);
    carry >>= 8;
  }
  for (std::size_t i = 0; i < a.size(); ++i) {
    const unsigned both = carry << 8 | static_cast<unsigned char>(middle[i]);
    middle[i] = static_cast<char>(both >> 1);
    carry = both & 1;
  }
  return middle;
}

// a + 2^bit, or less if the sum does not fit in as many bytes.
Bytes raised(const Bytes& a, std::size_t bit) {
  Bytes sum = a;
  if (bit / 8 >= sum.size()) return Bytes(a.size(), '\0');
  unsigned carry = 1U << (bit % 8);
  for (std::size_t i = sum.size() - bit / 8; carry > 0 && i-- > 0;) {
    carry += static_cast<unsigned char>(sum[i]);
    sum[i] = static_cast<char>(carry);
    carry >>= 8;
  }
  return sum;
}

}  // namespace

// A seek to any key up to the end of the damage fails, and to any key after it succeeds. First goes
// in growing steps, so as not to skip what is before the next damage; then bisects.
Result<Bytes> key_past_damage(BytesView from, BytesView end, const CanRead& can_read) {
  // Longer than `from`, so that the result is after it.
  const std::size_t size = std::max(kSearchedBytesMin, from.size() + 1);
  const auto sized = [size](BytesView key) {
    Bytes bytes(key.substr(0, size));
    bytes.resize(size, '\0');
    return bytes;
  };
  Bytes damaged = sized(from);
  Bytes behind = end.empty() ? Bytes(size, '\xFF') : sized(end);
  const Bytes begin = damaged;
  for (std::size_t bit = 0;; ++bit) {
    Bytes further = raised(begin, bit);
    if (further <= begin || further >= behind) break;
    TRY(const bool read, can_read(further));
    (read ? behind : damaged) = std::move(further);
    if (read) break;
  }
  for (;;) {
    Bytes middle = between(damaged, behind);
    if (middle <= damaged || middle >= behind) break;
    TRY(const bool read, can_read(middle));
    (read ? behind : damaged) = std::move(middle);
  }
  return behind;
}

}  // namespace halite::storage::rocks
