#include "common/bytes/proto_reader.h"

#include <fmt/format.h>

namespace halite {

std::string ProtoFault::text() const {
  if (what_ == nullptr) return {};
  if (field_ == 0) return fmt::format("byte {}: {}", position_ + 1, what_);
  return fmt::format("byte {}: field {} {}", position_ + 1, field_, what_);
}

}  // namespace halite
