// A wide-column store that writes only while a lease is held: each write checks it first.
//
//   Errors    of a write without the lease: kConflict.
//   Lifetime  the inner store and the lease must outlive it and its tables.
#pragma once

#include <memory>

#include "storage/api/wide_column.h"
#include "storage/views/shared/view_lease.h"

namespace halite::storage {

class LeasedStore final : public WideColumnStore {
 public:
  LeasedStore(WideColumnStore& inner, const ViewLease& lease) : inner_(inner), lease_(lease) {}

  Task<std::shared_ptr<Table>> open_table(TableSpec spec) override;
  [[nodiscard]] Result<void> health() const override { return inner_.health(); }
  // Does not close the inner store.
  Task<void> close() override { co_return Result<void>{}; }

 private:
  WideColumnStore& inner_;
  const ViewLease& lease_;
};

}  // namespace halite::storage
