// Maps a series to the shard given by its salt.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <utility>

#include "storage/api/sharding.h"
#include "storage/cells/layouts/row_layout.h"

namespace halite::storage {

class SaltSharding final : public Sharding {
 public:
  explicit SaltSharding(std::shared_ptr<const RowLayout> layout) : layout_(std::move(layout)) {}

  [[nodiscard]] std::uint32_t shard_count() const override { return layout_->salt_buckets(); }
  [[nodiscard]] std::uint32_t shard_of(std::uint64_t, std::string_view,
                                       BytesView tsuid) const override {
    return layout_->salt_of(tsuid);
  }

 private:
  const std::shared_ptr<const RowLayout> layout_;
};

}  // namespace halite::storage
