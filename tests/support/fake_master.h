// A fake HBase's master: makes, describes, changes and disables tables, each at once.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "storage/backends/hbase/proto/admin.pb.h"
#include "storage/backends/hbase/rpc/options.h"
#include "tests/support/fake_answer.h"
#include "tests/support/fake_hbase_data.h"

namespace halite::test {

class FakeMaster {
 public:
  // Both outlive it.
  FakeMaster(const std::vector<storage::hbase::Endpoint>& servers, FakeHBaseData& data)
      : servers_(servers), data_(data) {}

  [[nodiscard]] static bool does(const std::string& method);
  FakeAnswer run(const FakeRequest& request);

  // Of a family; empty where there is no such table, family or attribute.
  [[nodiscard]] std::string attribute(const std::string& table, const std::string& family,
                                      const std::string& name) const;

 private:
  using Schema = storage::hbase::pb::TableSchema;
  FakeAnswer create(const FakeRequest& request);
  FakeAnswer modify(const FakeRequest& request);
  FakeAnswer describe(const FakeRequest& request) const;
  FakeAnswer state(const FakeRequest& request) const;
  FakeAnswer status() const;

  const std::vector<storage::hbase::Endpoint>& servers_;
  FakeHBaseData& data_;
  std::map<std::string, Schema> schemas_;  // by name
};

}  // namespace halite::test
