#include "storage/cells/layouts/annotation_cell.h"

#include "storage/cells/layouts/values/qualifier.h"

namespace halite::storage {
namespace {

constexpr char kPrefix = 1;

bool in_milliseconds(std::int64_t time) { return time >= std::int64_t{1} << 32; }

Bytes annotation_qualifier(std::int64_t start_time) {
  if (start_time % 1000 == 0) start_time /= 1000;
  Bytes qualifier(1, kPrefix);
  if (in_milliseconds(start_time)) {
    append_be<std::uint32_t>(qualifier, static_cast<std::uint32_t>(start_time % kRowMs));
  } else {
    append_be<std::uint16_t>(qualifier, static_cast<std::uint16_t>(start_time % kRowSeconds));
  }
  return qualifier;
}

Bytes global_tsuid(const OpentsdbLayout& layout) { return Bytes(layout.widths().metric, '\0'); }

}  // namespace

Result<AnnotationKey> annotation_key(const OpentsdbLayout& layout, BytesView tsuid,
                                     std::int64_t start_time) {
  const bool as_given = start_time < 0 || in_milliseconds(start_time);
  const TimestampMs time = as_given ? start_time : start_time * 1000;
  TRY_VOID(layout.admit(time, 0));
  const Bytes series = tsuid.empty() ? global_tsuid(layout) : Bytes(tsuid);
  return AnnotationKey{layout.row_key(series, time), annotation_qualifier(start_time)};
}

bool is_annotation(BytesView qualifier) {
  return (qualifier.size() == 3 || qualifier.size() == 5) && qualifier.front() == kPrefix;
}

KeyRange global_annotation_rows(const OpentsdbLayout& layout, TimeRange range) {
  const auto scans = layout.metric_buckets(global_tsuid(layout), range, 0, 0);
  return scans.empty() ? KeyRange{Bytes(1, '\0'), Bytes(1, '\0')} : scans.front().keys;
}

}  // namespace halite::storage
