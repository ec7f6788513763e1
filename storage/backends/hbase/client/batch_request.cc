#include "storage/backends/hbase/client/batch_request.h"

#include <utility>

#include <fmt/format.h>

#include "storage/backends/hbase/messages/mutation_message.h"

namespace halite::storage::hbase {

namespace {

Fault odd_answer(const std::string& server, std::string_view what) {
  return Fault{.remedy = Remedy::kWait,
               .error = {Errc::kUnavailable, fmt::format("{}: {}", server, what), {}},
               .moved = {},
               .maybe_done = true};
}

}  // namespace

Result<std::vector<Cell>> cells_of(const pb::Result& result, CellReader& reader) {
  std::vector<Cell> cells;
  for (const pb::Cell& cell : result.cell()) cells.push_back(cell_from(cell));
  for (int i = 0; i < result.associated_cell_count(); ++i) {
    TRY(const CellView cell, reader.next());
    cells.push_back(cell_from(cell));
  }
  return cells;
}

BatchRequest::BatchRequest(const BatchJob& job, std::vector<BatchItem> items)
    : items_(std::move(items)) {
  if (job.nonce_group() != 0) message_.set_nonce_group(job.nonce_group());
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const BatchItem& item = items_[i];
    const bool atomic = job.atomic(item.at);
    const bool goes_on = !groups_.empty() && !atomic && !groups_.back().atomic &&
                         items_[groups_.back().begin].region == item.region;
    if (!goes_on) {
      groups_.push_back({.begin = i, .end = i, .atomic = atomic});
      pb::RegionAction& group = *message_.add_region_action();
      set_region(*group.mutable_region(), item.region->name);
      if (atomic) group.set_atomic(true);
    }
    groups_.back().end = i + 1;
    pb::RegionAction& group = *message_.mutable_region_action(message_.region_action_size() - 1);
    const int before = group.action_size();
    job.append(item.at, group, cells_);
    // Unique within a RegionAction: the actions of an atomic one count from 0.
    for (int action = before; action < group.action_size(); ++action) {
      group.mutable_action(action)->set_index(static_cast<std::uint32_t>(action));
    }
  }
}

Call BatchRequest::call(std::uint32_t timeout_ms) {
  Call call{.method = "Multi",
            .message = message_.SerializeAsString(),
            .cellblock = std::move(cells_),
            .timeout_ms = timeout_ms,
            .priority = {}};
  message_.Clear();
  return call;
}

std::vector<BatchFailure> BatchRequest::all_failed(const Fault& fault) const {
  std::vector<BatchFailure> failures;
  for (const BatchItem& item : items_) failures.push_back({item, fault});
  return failures;
}

void BatchRequest::read_group(const Group& group, const pb::RegionActionResult& result,
                              const std::string& server, BatchJob& job, CellReader& cells,
                              std::vector<BatchFailure>& failures) const {
  const std::size_t count = group.end - group.begin;
  std::vector<bool> told(count, group.atomic && !result.has_exception());
  auto failed = [&](std::size_t at, Fault fault) {
    failures.push_back({items_[group.begin + at], std::move(fault)});
    told[at] = true;
  };
  if (result.has_exception()) {
    const Fault fault = classify(
        exception_from_text(result.exception().name(), result.exception().value()), server);
    for (std::size_t at = 0; at < count; ++at) failed(at, fault);
    return;
  }
  for (const pb::ResultOrException& entry : result.result_or_exception()) {
    const std::size_t at = group.atomic ? 0 : entry.index();
    if (at >= count || (!group.atomic && told[at])) continue;  // not an index of this request
    if (entry.has_exception()) {
      failed(at, classify(exception_from_text(entry.exception().name(), entry.exception().value()),
                          server));
      continue;
    }
    told[at] = true;
    const Result<void> taken = job.take(items_[group.begin + at].at, entry.result(), cells);
    if (!taken) {
      failed(at, Fault{.remedy = Remedy::kGiveUp, .error = taken.error(), .moved = {}});
    }
  }
  for (std::size_t at = 0; at < count; ++at) {
    if (!told[at]) failed(at, odd_answer(server, "did not answer for one row of a batch"));
  }
}

std::vector<BatchFailure> BatchRequest::read(const Reply& reply, const std::string& server,
                                             BatchJob& job) const {
  pb::MultiResponse response;
  if (!response.ParseFromArray(reply.message.data(), static_cast<int>(reply.message.size()))) {
    return all_failed(odd_answer(server, "returned an invalid answer to a batch"));
  }
  if (static_cast<std::size_t>(response.region_action_result_size()) != groups_.size()) {
    return all_failed(odd_answer(server, "returned an answer for other regions"));
  }
  std::vector<BatchFailure> failures;
  CellReader cells(reply.cellblock);
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    read_group(groups_[i], response.region_action_result(static_cast<int>(i)), server, job, cells,
               failures);
  }
  return failures;
}

}  // namespace halite::storage::hbase
