// A client of a fake HBase, with times short enough for tests.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "common/threads/io_threads.h"
#include "storage/backends/hbase/client/client.h"
#include "tests/support/fake_region_server.h"
#include "tests/support/run_task.h"

namespace halite::storage::hbase {

inline constexpr TimestampMs kTime = 1'700'000'000'000;

// What a counter holds.
inline Bytes number(std::uint64_t value) {
  Bytes bytes;
  append_be(bytes, value);
  return bytes;
}

class ClientTest : public testing::Test {
 protected:
  void TearDown() override {
    if (client_ != nullptr) EXPECT_TRUE(test::run_task(client_->close()));
    client_.reset();
    io_.join();
  }

  // The client; made at the first call, with what options_ says then.
  Client& client() {
    if (client_ == nullptr) {
      options_.registry = {hbase_.endpoint(0), hbase_.endpoint(1)};
      client_ = std::make_unique<Client>(options_, io_.executors(), registry_);
    }
    return *client_;
  }

  static RowMutation put(const Bytes& row, const Bytes& value) {
    return {.row = row, .puts = {{"f", "q", value, kTime}}, .deletes = {}};
  }

  // "row0000" and so on, each with its number as value.
  static std::vector<RowMutation> rows(std::size_t count) {
    std::vector<RowMutation> all;
    for (std::size_t i = 0; i < count; ++i) all.push_back(put(row_key(i), std::to_string(i)));
    return all;
  }
  static Bytes row_key(std::size_t number) {
    const std::string digits = std::to_string(number);
    return "row" + std::string(4 - digits.size(), '0') + digits;
  }

  // All rows' values, by commas; `between` is told how many batches there were.
  std::string scan_text(
      ScanRequest request, const std::function<void(std::size_t)>& between = [](std::size_t) {}) {
    const auto scanner = client().scan("t", std::move(request));
    std::string text;
    std::size_t batches = 0;
    for (;;) {
      const Result<std::vector<Row>> batch = test::run_task(scanner->next());
      if (!batch) return text + " failed: " + batch.error().message;
      if (batch->empty()) return text;
      between(++batches);
      for (const Row& row : *batch) {
        for (const Cell& cell : row.cells) text += (text.empty() ? "" : ",") + cell.value;
      }
    }
  }
  static std::string numbers(std::size_t count, bool reverse = false) {
    std::string text;
    for (std::size_t i = 0; i < count; ++i) {
      text += (text.empty() ? "" : ",") + std::to_string(reverse ? count - 1 - i : i);
    }
    return text;
  }

  // Reacts so to the first call of this method to table t.
  void react_once(std::string method, test::FakeReaction reaction) {
    hbase_.script([method = std::move(method), reaction,
                   done = false](const test::FakeCall& call) mutable -> test::FakeReaction {
      if (done || call.method != method || call.table == "hbase:meta") return {};
      done = true;
      return reaction;
    });
  }

  test::FakeHBase hbase_{2};
  prometheus::Registry registry_;
  IoThreads io_{2, "hbase"};
  ClientOptions options_ = short_times();

 private:
  static ClientOptions short_times() {
    ClientOptions options;
    options.call_ms_max = 10'000;
    options.pause_ms_min = 1;
    options.pause_ms_max = 20;
    options.overloaded_ms_min = 2;
    options.operation_ms_max = 30'000;
    options.seed = 1;
    return options;
  }

  std::unique_ptr<Client> client_;
};

}  // namespace halite::storage::hbase
