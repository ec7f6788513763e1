#include "app/bulk/copy_points.h"

#include <chrono>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "app/bulk/patience.h"
#include "app/bulk/progress.h"
#include "app/bulk/refused_lines.h"
#include "app/server/wait_for.h"

namespace halite::app {
namespace {

using std::chrono::steady_clock;

struct Slice final : SliceSink::Prepared {
  std::vector<ingest::SeriesPoints> points;
  std::unique_ptr<ImportPart> part;
};

class Copy final : public SliceSink {
 public:
  Copy(const CopyJob& job, std::unique_ptr<RefusedLines> refused, WalkState state)
      : job_(job),
        refused_(std::move(refused)),
        progress_(0, job.quiet),
        state_(std::move(state)) {}

  Result<std::unique_ptr<Prepared>> prepare(const SourceSlice& /*slice*/,
                                            std::vector<ingest::SeriesPoints> points) override {
    auto slice = std::make_unique<Slice>();
    slice->points = std::move(points);
    slice->part = new_part(slice->points);
    return slice;
  }

  Result<void> take(std::unique_ptr<Prepared> prepared) override {
    auto& slice = dynamic_cast<Slice&>(*prepared);
    if (slice.points.empty()) return {};
    TRY(const ingest::Imported imported, store_patiently(slice));
    state_.totals.points += imported.points;
    state_.totals.refused += imported.refused.size();
    for (const ingest::RefusedLine& refused : imported.refused) {
      const ingest::SeriesPoints& series = slice.points[refused.line - 1];
      TRY_VOID(
          refused_->add(ingest::text_of(series.series), series.points.size(), refused.reason, ""));
    }
    progress_.set(0, state_.totals);
    return {};
  }

  Result<void> reached(const SourcePosition& position) override {
    state_.position = position;
    if (steady_clock::now() - last_ < kCheckpointInterval) return {};
    return checkpoint();
  }

  Result<ImportTotals> finish() {
    TRY_VOID(checkpoint());
    if (!job_.checkpoint.empty()) TRY_VOID(remove_walk_state(job_.checkpoint));
    return state_.totals;
  }

 private:
  std::unique_ptr<ImportPart> new_part(const std::vector<ingest::SeriesPoints>& points) {
    auto part = job_.target.new_part();
    part->add(points);
    return part;
  }

  Result<ingest::Imported> store_patiently(Slice& slice) {
    Patience patience{RetryTimes()};
    while (true) {
      Result<ingest::Imported> imported = slice.part->store();
      if (!patience.try_again(imported)) return imported;
      slice.part = new_part(slice.points);
    }
  }

  Result<void> checkpoint() {
    TRY_VOID(wait_for(job_.executor, job_.target.make_durable()));
    TRY(state_.errors_bytes, refused_->sync());
    last_ = steady_clock::now();
    return job_.checkpoint.empty() ? Result<void>() : write_walk_state(job_.checkpoint, state_);
  }

  const CopyJob& job_;
  const std::unique_ptr<RefusedLines> refused_;
  Progress progress_;
  WalkState state_;
  steady_clock::time_point last_ = steady_clock::now();
};

}  // namespace

Result<ImportTotals> copy_points(CopyJob job, const Print& err) {
  std::optional<WalkState> found;
  if (job.resume && !job.checkpoint.empty()) {
    TRY(found, read_walk_state(job.checkpoint, job.task));
  }
  WalkState state = found.value_or(WalkState());
  state.task = job.task;
  TRY(auto refused, RefusedLines::open(job.errors, state.errors_bytes, err));
  job.walk.from = state.position;
  Copy sink(job, std::move(refused), std::move(state));
  TRY_VOID(walk_source(job.source, sink, job.walk));
  return sink.finish();
}

}  // namespace halite::app
