#include "app/bulk/copy_points.h"

#include <algorithm>
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
    const auto again = [this, &slice] { return new_part(slice.points); };
    TRY(const ingest::Imported imported,
        store_patiently(std::move(slice.part), again, RetryTimes()));
    state_.totals.points += imported.points;
    for (const ingest::RefusedLine& refused : imported.refused) {
      state_.totals.refused += refused.points;
      const SeriesName& series = slice.points[refused.line - 1].series;
      TRY_VOID(refused_->add(ingest::text_of(series), refused.points, refused.reason, ""));
    }
    progress_.set(0, state_.totals);
    return {};
  }

  Result<void> reached(const SourcePosition& position) override {
    state_.position = position;
    if (steady_clock::now() - last_ < job_.checkpoint_interval) return {};
    return checkpoint();
  }

  Result<void> begin() {
    return job_.checkpoint.empty() ? Result<void>() : write_walk_state(job_.checkpoint, state_);
  }

  Result<CopyResult> finish() {
    TRY_VOID(checkpoint());
    if (!job_.checkpoint.empty()) TRY_VOID(remove_checkpoint(job_.checkpoint));
    return CopyResult{.totals = state_.totals, .began = state_.began};
  }

 private:
  std::unique_ptr<ImportPart> new_part(const std::vector<ingest::SeriesPoints>& points) {
    auto part = job_.target.new_part();
    part->add(points);
    return part;
  }

  Result<void> checkpoint() {
    TRY_VOID(wait_for(job_.executor, job_.target.make_durable()));
    const ImportTarget::LateRefusals late = job_.target.take_late_refusals();
    if (late.points > 0) {
      state_.totals.points -= std::min(state_.totals.points, late.points);
      state_.totals.refused += late.points;
      TRY_VOID(refused_->add("points refused by the table", late.points, late.reason, ""));
    }
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

Result<CopyResult> copy_points(CopyJob job, const Print& err) {
  TRY(const auto lock, CheckpointLock::take(job.checkpoint));
  TRY(const std::optional<WalkState> found, begin_walk(job.checkpoint, job.task, job.resume));
  WalkState state = found.value_or(WalkState());
  TRY_VOID(check_errors_flag(job.checkpoint, state.errors, job.errors));
  state.task = job.task;
  state.errors = job.errors;
  if (!found) state.began = SystemClock().now_ms();
  TRY(auto refused, RefusedLines::open(job.errors, errors_kept(found), err));
  job.walk.from = state.position;
  Copy sink(job, std::move(refused), std::move(state));
  TRY_VOID(sink.begin());
  TRY_VOID(walk_source(job.source, sink, job.walk));
  return sink.finish();
}

}  // namespace halite::app
