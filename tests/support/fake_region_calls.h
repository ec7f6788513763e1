// What a fake region server does for a call: messages in, messages out.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tests/support/fake_region_server.h"

namespace halite::test {

struct FakeRequest {
  std::size_t server = 0;
  std::string method;
  Bytes message;
  Bytes cellblock;
};

struct FakeException {
  std::string name;  // of its class, without org.apache.hadoop.hbase.
  std::string text;
  bool do_not_retry = false;
};

struct FakeAnswer {
  Bytes message;
  Bytes cellblock;
  std::optional<FakeException> exception = {};
};

class FakeRegionCalls {
 public:
  explicit FakeRegionCalls(std::vector<storage::hbase::Endpoint> servers)
      : servers_(std::move(servers)) {}

  // Table, row and actions of it.
  [[nodiscard]] static FakeCall describe(const FakeRequest& request);
  FakeAnswer run(const FakeRequest& request, const FakeReaction& reaction);

  FakeHBaseData& data() { return data_; }
  void set_rows_per_answer(std::size_t rows) { rows_per_answer_ = rows; }

 private:
  struct OpenScan {
    FakeRegion region;
    std::vector<Bytes> rows;  // still to come, the last first
    storage::hbase::pb::Scan scan;
    std::uint64_t next_call = 0;
  };
  using ScanResponse = storage::hbase::pb::ScanResponse;

  FakeAnswer where_is_meta() const;
  FakeAnswer scan_meta(const storage::hbase::pb::ScanRequest& request) const;
  FakeAnswer get(const FakeRequest& request);
  FakeAnswer mutate(const FakeRequest& request);
  FakeAnswer multi(const FakeRequest& request, const FakeReaction& reaction);
  FakeAnswer scan(const FakeRequest& request);
  std::optional<FakeException> open_scan(const FakeRequest& request,
                                         const storage::hbase::pb::ScanRequest& message,
                                         std::uint64_t& id);
  FakeAnswer next_rows(const storage::hbase::pb::ScanRequest& message, std::uint64_t id);
  std::optional<FakeException> check_region(const FakeRequest& request, BytesView name,
                                            BytesView row, FakeRegion*& region);
  std::uint32_t append_cells(const std::string& table, const storage::hbase::pb::Get& get,
                             Bytes& cellblock) const;
  // What has no result: puts and deletes.
  void apply(const std::string& table, const storage::hbase::pb::MutationProto& mutation,
             BytesView& cellblock);

  const std::vector<storage::hbase::Endpoint> servers_;
  FakeHBaseData data_;
  std::map<std::uint64_t, OpenScan> scans_;
  std::uint64_t last_scan_ = 0;
  std::size_t rows_per_answer_ = 1000;
};

}  // namespace halite::test
