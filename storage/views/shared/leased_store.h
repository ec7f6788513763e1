// A wide-column store that writes only in one term of a lease: each write checks it first, and
// ends before another server can take the lease.
//
//   Errors    of a write after the term: kConflict. kUnsupported: increments and compare-and-puts,
//             which have no end.
//   Lifetime  the inner store and the lease must outlive it and its tables.
#pragma once

#include <cstdint>
#include <memory>

#include "storage/api/wide_column.h"
#include "storage/views/shared/view_lease.h"

namespace halite::storage {

class LeasedStore final : public WideColumnStore {
 public:
  LeasedStore(WideColumnStore& inner, const ViewLease& lease, std::uint64_t term)
      : inner_(inner), lease_(lease), term_(term) {}

  Task<std::shared_ptr<Table>> open_table(TableSpec spec) override;
  [[nodiscard]] Result<void> health() const override { return inner_.health(); }
  // Does not close the inner store.
  Task<void> close() override { co_return Result<void>{}; }

 private:
  WideColumnStore& inner_;
  const ViewLease& lease_;
  const std::uint64_t term_;
};

}  // namespace halite::storage
