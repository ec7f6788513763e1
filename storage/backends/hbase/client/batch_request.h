// One request of many actions to one server, and the result of each action.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "storage/backends/hbase/messages/data.h"
#include "storage/backends/hbase/messages/region.h"
#include "storage/backends/hbase/proto/client.pb.h"
#include "storage/backends/hbase/rpc/cellblock.h"
#include "storage/backends/hbase/rpc/connection.h"
#include "storage/backends/hbase/rpc/fault.h"

namespace halite::storage::hbase {

struct BatchItem {
  std::size_t at = 0;  // index in the job
  RegionPtr region;
};

// A list of rows to read or to write. Call take() for different rows in parallel.
class BatchJob {
 public:
  virtual ~BatchJob() = default;
  [[nodiscard]] virtual std::size_t size() const = 0;
  [[nodiscard]] virtual const Bytes& row(std::size_t at) const = 0;
  [[nodiscard]] virtual std::size_t bytes(std::size_t at) const = 0;  // about, in a request
  // Whether it has more than one action, all or none.
  [[nodiscard]] virtual bool atomic(std::size_t at) const = 0;
  virtual void append(std::size_t at, pb::RegionAction& to, Bytes& cells) const = 0;
  // Takes the result of an action and its cells.
  virtual Result<void> take(std::size_t at, const pb::Result& result, CellReader& cells) = 0;
  // Whether the fault is the outcome of the action, which is then not sent again.
  virtual bool refuse(const BatchItem& item, const Fault& fault) {
    static_cast<void>(item);
    static_cast<void>(fault);
    return false;
  }
  // The region to which the action must be sent next, wherever its row is now. Null: to that of its
  // row.
  [[nodiscard]] virtual RegionPtr bound_to(std::size_t at) const {
    static_cast<void>(at);
    return nullptr;
  }
  // The server makes one action after the other durable, so that many small requests are faster.
  [[nodiscard]] virtual bool waits_for_each() const { return false; }
  // For actions that must be applied once; 0 = there is none.
  [[nodiscard]] virtual std::uint64_t nonce_group() const { return 0; }
};

// The cells of an action's result, in its message or in the cellblock.
[[nodiscard]] Result<std::vector<Cell>> cells_of(const pb::Result& result, CellReader& reader);

struct BatchFailure {
  BatchItem item;
  Fault fault;
};

class BatchRequest {
 public:
  // Items of one region must be adjacent.
  BatchRequest(const BatchJob& job, std::vector<BatchItem> items);

  // Message and cellblock. Send it once.
  [[nodiscard]] Call call(std::uint32_t timeout_ms);

  // Passes the results to the job; returns the items that failed.
  std::vector<BatchFailure> read(const Reply& reply, const std::string& server,
                                 BatchJob& job) const;

  [[nodiscard]] std::vector<BatchFailure> all_failed(const Fault& fault) const;

 private:
  struct Group {
    std::size_t begin = 0;  // index in items_
    std::size_t end = 0;
    bool atomic = false;
  };

  void read_group(const Group& group, const pb::RegionActionResult& result,
                  const std::string& server, BatchJob& job, CellReader& cells,
                  std::vector<BatchFailure>& failures) const;

  std::vector<BatchItem> items_;
  std::vector<Group> groups_;  // one for each RegionAction
  pb::MultiRequest message_;
  Bytes cells_;
};

}  // namespace halite::storage::hbase
