#include "storage/meta/trees/tree_sorter.h"

#include <utility>

#include "common/log.h"

namespace halite::storage {

Task<std::shared_ptr<const TreeSorter::Builders>> TreeSorter::enabled() {
  const std::uint64_t version = trees_.version();
  const TimestampMs now = clock_.now_ms();
  {
    const std::lock_guard lock(mutex_);
    const bool fresh = version_ == version && now - loaded_ms_ < kReloadMs;
    if (builders_ && fresh) co_return builders_;
  }
  CO_TRY(std::vector<Tree> trees, co_await trees_.all());
  auto builders = std::make_shared<Builders>();
  for (Tree& tree : trees) {
    if (!tree.enabled || tree.rules.empty()) continue;
    builders->push_back(std::make_shared<const TreeBuilder>(std::move(tree)));
  }
  const std::lock_guard lock(mutex_);
  builders_ = builders;
  version_ = version;
  loaded_ms_ = now;
  co_return std::shared_ptr<const Builders>(std::move(builders));
}

Task<void> TreeSorter::add(Bytes tsuid) {
  CO_TRY(const std::shared_ptr<const Builders> builders, co_await enabled());
  if (builders->empty()) co_return Result<void>();
  CO_TRY(const std::optional<TsMeta> series, co_await series_.get(tsuid));
  if (!series) co_return Result<void>();  // removed meanwhile
  for (const auto& builder : *builders) {
    const Result<TreePath> place = builder->run(*series);
    Result<void> hung;
    if (place) {
      hung = co_await trees_.add_series(builder->tree(), *place, tsuid);
    } else {
      hung = std::unexpected(place.error());
    }
    if (!hung) {
      log::warn("tree {}: cannot add series {}: {}", builder->tree().id, to_hex(tsuid),
                hung.error().message);
    }
  }
  co_return Result<void>();
}

}  // namespace halite::storage
