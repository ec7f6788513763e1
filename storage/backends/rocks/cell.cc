#include "storage/backends/rocks/cell.h"

#include <string>
#include <utility>

#include <fmt/format.h>
#include <rocksdb/slice.h>

#include "storage/backends/shared/wide_column_rules.h"

namespace halite::storage::rocks {

std::optional<StoredCell> parse_cell(BytesView stored) {
  if (stored.size() < kCellTimeBytes) return std::nullopt;
  return StoredCell{static_cast<TimestampMs>(load_be<std::uint64_t>(stored.data())),
                    stored.substr(kCellTimeBytes)};
}

Result<StoredCell> parse_cell_of(BytesView key, BytesView stored) {
  if (const auto cell = parse_cell(stored)) return *cell;
  return fail(Errc::kCorruption, fmt::format("the cell at {} has {} bytes, too few for a timestamp",
                                             to_hex(key), stored.size()));
}

void set_cell_time(char* stored, TimestampMs time) {
  auto bits = static_cast<std::uint64_t>(time);
  for (std::size_t i = kCellTimeBytes; i-- > 0; bits >>= 8) stored[i] = static_cast<char>(bits);
}

namespace {

class GreatestTime final : public rocksdb::AssociativeMergeOperator {
 public:
  // Part of the format.
  [[nodiscard]] const char* Name() const override { return "halite.greatest-time.1"; }

  // If it returns false, the read or compaction fails with Corruption.
  bool Merge(const rocksdb::Slice&, const rocksdb::Slice* before, const rocksdb::Slice& operand,
             std::string* merged, rocksdb::Logger*) const override {
    const auto after = parse_cell(operand.ToStringView());
    if (!after) return false;
    if (before != nullptr) {
      const auto existing = parse_cell(before->ToStringView());
      if (!existing) return false;
      if (existing->time > after->time) {
        merged->assign(before->data(), before->size());
        return true;
      }
    }
    merged->assign(operand.data(), operand.size());
    return true;
  }
};

class TtlFilter final : public rocksdb::CompactionFilter {
 public:
  TtlFilter(std::int64_t ttl_ms, TimestampMs now) : ttl_ms_(ttl_ms), now_(now) {}

  [[nodiscard]] const char* Name() const override { return "halite.ttl.1"; }

  Decision FilterV2(int, const rocksdb::Slice&, ValueType, const rocksdb::Slice& stored,
                    std::string*, std::string*) const override {
    const auto cell = parse_cell(stored.ToStringView());
    // A value that is not a cell stays, so that a read of it reports the damage.
    return cell && is_expired(cell->time, ttl_ms_, now_) ? Decision::kRemove : Decision::kKeep;
  }

 private:
  const std::int64_t ttl_ms_;
  const TimestampMs now_;
};

class TtlFilterFactory final : public rocksdb::CompactionFilterFactory {
 public:
  TtlFilterFactory(SharedTtl ttl_ms, const Clock& clock)
      : ttl_ms_(std::move(ttl_ms)), clock_(clock) {}

  [[nodiscard]] const char* Name() const override { return "halite.ttl.1"; }

  std::unique_ptr<rocksdb::CompactionFilter> CreateCompactionFilter(
      const rocksdb::CompactionFilter::Context&) override {
    const std::int64_t ttl_ms = ttl_ms_->load();
    if (ttl_ms == 0) return nullptr;
    return std::make_unique<TtlFilter>(ttl_ms, clock_.now_ms());
  }

 private:
  const SharedTtl ttl_ms_;
  const Clock& clock_;
};

}  // namespace

std::shared_ptr<rocksdb::MergeOperator> greatest_time_operator() {
  static const auto kMerge = std::make_shared<GreatestTime>();
  return kMerge;
}

std::shared_ptr<rocksdb::CompactionFilterFactory> ttl_filter_factory(SharedTtl ttl_ms,
                                                                     const Clock& clock) {
  return std::make_shared<TtlFilterFactory>(std::move(ttl_ms), clock);
}

}  // namespace halite::storage::rocks
