// What a fake region server does for a call: messages in, messages out.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tests/support/fake_answer.h"
#include "tests/support/fake_bulk_loads.h"
#include "tests/support/fake_master.h"
#include "tests/support/fake_region_scans.h"
#include "tests/support/fake_region_server.h"

namespace halite::test {

class FakeRegionCalls {
 public:
  explicit FakeRegionCalls(std::vector<storage::hbase::Endpoint> servers)
      : servers_(std::move(servers)),
        scans_(servers_, data_),
        master_(servers_, data_),
        loads_(data_) {}

  // Table, row and actions of it.
  [[nodiscard]] static FakeCall describe(const FakeRequest& request);
  FakeAnswer run(const FakeRequest& request, const FakeReaction& reaction);

  FakeHBaseData& data() { return data_; }
  [[nodiscard]] const FakeMaster& master() const { return master_; }
  void set_rows_per_answer(std::size_t rows) { scans_.set_rows_per_answer(rows); }
  void set_cells_per_answer(std::size_t cells) { scans_.set_cells_per_answer(cells); }
  void set_staging(std::string dir) { loads_.set_staging(std::move(dir)); }
  void set_heartbeat_every(std::size_t answers) { scans_.set_heartbeat_every(answers); }

 private:
  FakeAnswer where_is_meta() const;
  FakeAnswer get(const FakeRequest& request);
  FakeAnswer mutate(const FakeRequest& request, const FakeReaction& reaction);
  FakeAnswer multi(const FakeRequest& request, const FakeReaction& reaction);
  FakeAnswer region_load(const FakeRequest& request) const;
  FakeAnswer compact(const FakeRequest& request);
  std::optional<FakeException> check_region(const FakeRequest& request, BytesView name,
                                            BytesView row, FakeRegion*& region);
  std::optional<std::vector<FakeCell>> increment(const std::string& table,
                                                 const storage::hbase::pb::MutationProto& mutation,
                                                 BytesView& cellblock, std::uint64_t nonce_group,
                                                 std::uint64_t nonce);
  [[nodiscard]] bool fits(const std::string& table,
                          const storage::hbase::pb::Condition& condition) const;
  // What has no result: puts and deletes.
  void apply(const std::string& table, const storage::hbase::pb::MutationProto& mutation,
             BytesView& cellblock, std::uint64_t nonce_group);

  const std::vector<storage::hbase::Endpoint> servers_;
  FakeHBaseData data_;
  FakeRegionScans scans_;  // of data_
  FakeMaster master_;
  FakeBulkLoads loads_;
};

}  // namespace halite::test
