// A fake region server's scans: of regions, row by row, and of hbase:meta.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "storage/backends/hbase/proto/client.pb.h"
#include "tests/support/fake_answer.h"
#include "tests/support/fake_hbase_data.h"
#include "tests/support/fake_region_server.h"

namespace halite::test {

// What `get` asks of its row.
std::vector<FakeCell> wanted_cells(const FakeHBaseData& data, const std::string& table,
                                   const storage::hbase::pb::Get& get);
// The same, at the end of the cellblock; returns how many cells.
std::uint32_t append_cells(const FakeHBaseData& data, const std::string& table,
                           const storage::hbase::pb::Get& get, Bytes& cellblock);

class FakeRegionScans {
 public:
  // Both outlive it.
  FakeRegionScans(const std::vector<storage::hbase::Endpoint>& servers, FakeHBaseData& data)
      : servers_(servers), data_(data) {}

  FakeAnswer scan(const FakeRequest& request);
  void set_rows_per_answer(std::size_t rows) { rows_per_answer_ = rows; }
  void set_cells_per_answer(std::size_t cells) { cells_per_answer_ = cells; }
  void set_heartbeat_every(std::size_t answers) { heartbeat_every_ = answers; }

 private:
  struct OpenScan {
    FakeRegion region;
    std::vector<Bytes> rows;  // still to come, the last first
    storage::hbase::pb::Scan scan;
    std::uint64_t next_call = 0;
    std::uint32_t cells_sent = 0;  // of the row that comes next
  };

  FakeAnswer scan_meta(const storage::hbase::pb::ScanRequest& request) const;
  std::optional<FakeException> open_scan(const FakeRequest& request,
                                         const storage::hbase::pb::ScanRequest& message,
                                         std::uint64_t& id);
  FakeAnswer next_rows(const storage::hbase::pb::ScanRequest& message, std::uint64_t id);

  const std::vector<storage::hbase::Endpoint>& servers_;
  FakeHBaseData& data_;
  std::map<std::uint64_t, OpenScan> open_;  // by scanner id
  std::uint64_t last_scan_ = 0;
  std::size_t rows_per_answer_ = 1000;
  std::size_t cells_per_answer_ = 100'000;
  std::size_t heartbeat_every_ = 0;  // so many answers; 0 = none
  std::size_t answers_ = 0;          // of scans of rows
};

}  // namespace halite::test
