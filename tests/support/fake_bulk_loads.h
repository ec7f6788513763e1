// What a fake region server does with files for bulk loads: reads those that its regions take, from
// a directory of this machine.
#pragma once

#include <string>

#include "tests/support/fake_answer.h"
#include "tests/support/fake_hbase_data.h"
#include "tests/support/fake_region_server.h"

namespace halite::test {

class FakeBulkLoads {
 public:
  explicit FakeBulkLoads(FakeHBaseData& data) : data_(data) {}

  // Where staging directories are made. Without one, bulk loads are refused by an exception.
  void set_staging(std::string dir) { dir_ = std::move(dir); }

  [[nodiscard]] static bool does(const std::string& method);
  FakeAnswer run(const FakeRequest& request, const FakeReaction& reaction);

 private:
  FakeAnswer prepare();
  FakeAnswer load(const FakeRequest& request, const FakeReaction& reaction);
  FakeAnswer clean_up(const FakeRequest& request);

  FakeHBaseData& data_;
  std::string dir_;
  int last_ = 0;  // number of a staging directory
};

}  // namespace halite::test
