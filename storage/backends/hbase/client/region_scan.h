// The requests of one scanner: opens it in a region, reads rows, continues in the next region.
// After a loss it opens the scanner again after the last cell.
//
//   Threads  One coroutine at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/threads/task.h"
#include "storage/backends/hbase/client/client_context.h"
#include "storage/backends/hbase/messages/scan.h"
#include "storage/backends/hbase/proto/client.pb.h"

namespace halite::storage::hbase {

class RegionScan {
 public:
  RegionScan(ClientContextPtr context, std::string table, ScanRequest request);

  // The rows of one answer; none does not mean the end: see finished(). The last row may continue
  // in the next answer, with its key.
  Task<ScanBatch> next();

  [[nodiscard]] bool finished() const { return finished_; }
  // The server drops the scanner after this time without a request. 0: no scanner is open.
  [[nodiscard]] std::uint32_t lease_ms() const { return open_ ? open_->lease_ms : 0; }

  // Renews the lease. If that fails, next() opens the scanner again.
  boost::asio::awaitable<void> renew();
  // Closes the server's scanner. next() would open it again.
  boost::asio::awaitable<void> release();

 private:
  struct Open {
    RegionPtr region;
    std::uint64_t id = 0;
    std::uint64_t next_call = 0;
    std::uint32_t lease_ms = 0;
  };

  RemoteTask<ScanBatch> attempt();
  RemoteTask<RegionPtr> locate();
  RemoteTask<Reply> send(RegionPtr region, const pb::ScanRequest& request);
  [[nodiscard]] pb::ScanRequest open_message(const Region& region) const;
  [[nodiscard]] pb::ScanRequest next_message();
  void after_answer(const RegionPtr& region, const pb::ScanResponse& response);
  void end_of_region(const Region& region);
  Outcome<ScanBatch> take_rows(const pb::ScanResponse& response, const Reply& reply);
  [[nodiscard]] bool seen(const CellView& cell) const;

  const ClientContextPtr context_;
  const std::string table_;
  const ScanRequest request_;
  Retry retry_;

  std::optional<Open> open_;
  bool finished_ = false;

  // Where to open the next scanner. In reverse, empty and without the row itself: at the table's
  // last row.
  Bytes from_;
  bool include_from_;
  // The last cell that was returned, without its value.
  std::optional<Bytes> last_row_;
  Cell last_cell_;
  // The read point of the last scanner, for a scanner that reopens within a row.
  Bytes read_point_region_;
  std::uint64_t read_point_ = 0;
};

}  // namespace halite::storage::hbase
