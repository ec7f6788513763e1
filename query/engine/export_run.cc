#include "query/engine/export_run.h"

#include <utility>

namespace halite::query {

ExportRun::ExportRun(storage::PointStore& store, ExportQuestion question,
                     std::unique_ptr<SteppedRun> run)
    : run_(std::move(run)),
      points_(std::make_shared<PointExport>(store, std::move(question), run_->budget())) {}

Task<bool> ExportRun::read(std::shared_ptr<PointExport> points, BlockUse use,
                           std::shared_ptr<QueryBudget> budget) {
  const QueryBudget::Timed timed(*budget, Stage::kRead);
  auto reading = points->next(std::move(use));
  co_return co_await std::move(reading);
}

Task<bool> ExportRun::next(BlockUse use) {
  auto reading = run_->step(read(points_, std::move(use), run_->budget()));
  const Result<bool> more = co_await std::move(reading);
  if (more && !*more) run_->succeeded();
  co_return more;
}

Task<std::shared_ptr<const AnswerReservation>> ExportRun::read_all(BlockUse use) {
  bool more = true;
  while (more) {
    auto reading = next(use);
    CO_TRY(more, co_await std::move(reading));
  }
  co_return run_->reserve();
}

}  // namespace halite::query
