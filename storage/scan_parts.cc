#include "storage/scan_parts.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <span>
#include <utility>

#include "common/gather.h"

namespace halite::storage {
namespace {

constexpr std::size_t kSamplesAPart = 32;

}  // namespace

std::vector<PairSpan> cut_series(const RowSource& source, const RowSelection& selection,
                                 TimeRange range, std::uint32_t shard) {
  const RowScanOptions& options = source.options;
  std::vector<PairSpan> whole(1);
  const std::size_t parts = options.parts_max / source.layout.salt_buckets();
  if (parts < 2 || !options.shared_tables || selection.by_tsuid()) return whole;
  if (rows_in(range, source.layout.bucket_span_ms()) > options.part_rows_max) return whole;
  const RowSelection::Known known = selection.known();
  const std::span<const SeriesId> ours =
      source.layout.salt_buckets() == 1 ? std::span(known->by_shard()) : known->of_shard(shard);
  if (ours.size() < options.parts_series_min) return whole;
  // Ids come as series were met; every n-th is as good as any.
  std::set<Bytes> pairs;
  const std::size_t step = std::max<std::size_t>(1, ours.size() / (parts * kSamplesAPart));
  for (std::size_t i = 0; i < ours.size(); i += step) {
    const Tsuid& tsuid = source.registry.table().at(ours[i]).tsuid;
    pairs.emplace(BytesView(tsuid.bytes()).substr(source.layout.widths().metric));
  }
  const std::vector<Bytes> sorted(pairs.begin(), pairs.end());
  std::vector<PairSpan> spans;
  for (std::size_t part = 0; part < parts; ++part) {
    PairSpan& span = spans.emplace_back();
    if (part > 0) span.begin = sorted[sorted.size() * part / parts];
    if (part + 1 < parts) span.end = sorted[sorted.size() * (part + 1) / parts];
  }
  return spans;
}

Task<std::vector<Block>> SideBySideScan::begin() {
  std::vector<Task<std::vector<Block>>> firsts;
  for (const auto& part : parts_) firsts.push_back(part->next());
  auto beginning = gather(std::move(firsts), parts_.size());
  std::vector<Result<std::vector<Block>>> outcomes = co_await std::move(beginning);
  std::vector<Block> blocks;
  std::vector<std::unique_ptr<BlockScan>> unfinished;
  for (std::size_t i = 0; i < outcomes.size(); ++i) {
    if (!outcomes[i]) co_return std::unexpected(std::move(outcomes[i]).error());
    if (outcomes[i]->empty()) continue;
    std::ranges::move(*outcomes[i], std::back_inserter(blocks));
    unfinished.push_back(std::move(parts_[i]));
  }
  parts_ = std::move(unfinished);
  co_return blocks;
}

Task<std::vector<Block>> SideBySideScan::next() {
  if (!begun_) {
    begun_ = true;
    Task<std::vector<Block>> beginning = begin();
    co_return co_await std::move(beginning);
  }
  while (!parts_.empty()) {
    turn_ %= parts_.size();
    Task<std::vector<Block>> asking = parts_[turn_]->next();
    CO_TRY(std::vector<Block> blocks, co_await std::move(asking));
    if (!blocks.empty()) {
      ++turn_;
      co_return blocks;
    }
    parts_.erase(parts_.begin() + static_cast<std::ptrdiff_t>(turn_));
  }
  co_return std::vector<Block>();
}

}  // namespace halite::storage
