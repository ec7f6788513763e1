// Any bytes as the payload of a record of the point log.
#include <cstddef>
#include <cstdlib>

#include "storage/tsdb/wal/records.h"

namespace halite::storage::log_records {

namespace {

constexpr std::size_t kReadMax = 4096;  // a few bytes may be a million points

// Writes again what it is shown.
class Copier final : public SectionVisitor {
 public:
  Result<void> name(const NameRecord& name) override {
    append_name(copy, name);
    return {};
  }
  Result<void> series(const SeriesRecord& series) override {
    append_series(copy, series);
    return {};
  }
  Result<void> points(const PointColumns& points) override {
    const std::size_t count = points.series.size();
    if (points.times.size() != count || points.values.size() != count ||
        points.flags.size() != count) {
      std::abort();
    }
    append_points(copy, points);
    return {};
  }
  Bytes copy;
};

}  // namespace

// A column may be longer than the shortest; what was read and written once stays as it is.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  SectionReader reader(kReadMax);
  Copier first;
  if (const auto read = reader.read({reinterpret_cast<const char*>(data), size}, first); !read) {
    if (read.error().message.empty()) std::abort();
    return 0;
  }
  Copier second;
  if (!reader.read(first.copy, second) || second.copy != first.copy) std::abort();
  return 0;
}

}  // namespace halite::storage::log_records
