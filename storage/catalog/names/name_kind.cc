#include "storage/catalog/names/name_kind.h"

#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "storage/api/wide_column.h"

namespace halite::storage {

std::string_view name_kind_text(NameKind kind) {
  switch (kind) {
    case NameKind::kMetric:
      return "metrics";
    case NameKind::kTagKey:
      return "tagk";
    case NameKind::kTagValue:
      return "tagv";
  }
  std::unreachable();
}

Error no_such_name(NameKind kind, std::string_view name) {
  return Error{
      Errc::kNotFound, fmt::format("No such name for '{}': '{}'", name_kind_text(kind), name), {}};
}

Error no_such_uid(NameKind kind, BytesView uid) {
  std::vector<int> bytes;
  for (const char byte : uid) bytes.push_back(static_cast<signed char>(byte));
  return Error{
      Errc::kNotFound,
      fmt::format("No such unique ID for '{}': [{}]", name_kind_text(kind), fmt::join(bytes, ", ")),
      {}};
}

Result<void> check_name(NameKind kind, std::string_view name) {
  if (name.empty() || name.size() > kRowKeyBytesMax || name == std::string_view("\0", 1)) {
    return fail(Errc::kInvalidArgument,
                fmt::format("a name for '{}' must have 1 to {} bytes and must not be a single zero "
                            "byte; this one has {} bytes",
                            name_kind_text(kind), kRowKeyBytesMax, name.size()));
  }
  return {};
}

}  // namespace halite::storage
