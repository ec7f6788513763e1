// Writes new names as records of the write-ahead log.
#pragma once

#include "storage/catalog/names/name_log.h"
#include "storage/tsdb/wal/log.h"

namespace halite::storage::engine {

class EngineNameLog final : public NameLog {
 public:
  // The log must outlive it.
  explicit EngineNameLog(Log& log) : log_(log) {}

  Result<void> append(std::span<const NewName> names) override;
  Task<void> durable() override;

 private:
  Log& log_;
};

}  // namespace halite::storage::engine
