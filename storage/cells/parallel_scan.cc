#include "storage/cells/parallel_scan.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "common/gather.h"

namespace halite::storage {

ParallelScan::ParallelScan(std::vector<std::unique_ptr<BlockScan>> scans)
    : scans_(std::move(scans)) {}

Task<std::vector<Block>> ParallelScan::next() {
  std::vector<Block> blocks;
  while (blocks.empty() && !scans_.empty()) {
    std::vector<Task<std::vector<Block>>> asked;
    for (const auto& scan : scans_) asked.push_back(scan->next());
    auto answers = co_await gather(std::move(asked), scans_.size());
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (!answers[i]) co_return std::unexpected(answers[i].error());
      if (answers[i]->empty()) scans_[i].reset();
      std::ranges::move(*answers[i], std::back_inserter(blocks));
    }
    std::erase(scans_, nullptr);
  }
  co_return blocks;
}

}  // namespace halite::storage
