// The requests of one scanner: opens it in a region, asks for more, goes on to the next region, and
// opens it again behind the last cell when something was lost.
//
//   Threads  for one coroutine at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "common/task.h"
#include "storage/backends/hbase/client/client_context.h"
#include "storage/backends/hbase/messages/scan.h"
#include "storage/backends/hbase/proto/client.pb.h"

namespace halite::storage::hbase {

class RegionScan {
 public:
  RegionScan(ClientContextPtr context, std::string table, ScanRequest request);

  // One answer's rows, perhaps none: finished() tells the end. The last row may go on in the next
  // answer, under its key.
  Task<ScanBatch> next();

  [[nodiscard]] bool finished() const { return finished_; }
  // The server holds a scanner for us, that it gives up after this time without a request. 0: none.
  [[nodiscard]] std::uint32_t lease_ms() const { return open_ ? open_->lease_ms : 0; }

  // Keeps the lease for another such time; if that fails, next() opens the scanner again.
  boost::asio::awaitable<void> renew();
  // Gives the server's scanner back. next() would open it again.
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

  // Where a scanner that is opened now begins. In reverse, without the row itself and empty: at the
  // table's last row.
  Bytes from_;
  bool include_from_;
  // The cell that was handed out last, without its value.
  std::optional<Bytes> last_row_;
  Cell last_cell_;
  // What a scanner opened within a row again is to see: what the one before saw.
  Bytes read_point_region_;
  std::uint64_t read_point_ = 0;
};

}  // namespace halite::storage::hbase
