// The stores of a tool that reads or writes points without a server.
//
//   Lifetime  call close() before the destructor; nothing that uses the stores outlives it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include <boost/asio/any_io_executor.hpp>
#include <prometheus/registry.h>

#include "app/server/data_dir.h"
#include "app/settings/options.h"
#include "app/stores/stores.h"
#include "common/clock.h"
#include "common/threads/io_threads.h"

namespace halite::app {

enum class DataUse : std::uint8_t {
  kRead,  // changes nothing; of a data directory, its state when it was opened
  kFill,  // points bypass the write-ahead log: they are durable after PointStore::flush()
};

// The threads of a tool: as many as asked for, or one for each processor if `jobs` is 0.
[[nodiscard]] unsigned thread_count(unsigned jobs);

// The store of the options, as a checkpoint names it.
[[nodiscard]] std::string store_text(const Options& options);

class OpenedData {
 public:
  // kConflict: a server uses the data directory.
  static Result<std::unique_ptr<OpenedData>> open(Options options, DataUse use);
  ~OpenedData();
  OpenedData(const OpenedData&) = delete;

  [[nodiscard]] Stores& stores() { return *stores_; }
  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] const Clock& clock() const { return clock_; }
  [[nodiscard]] prometheus::Registry& registry() { return registry_; }
  // Runs tasks of the stores; its threads must not block.
  [[nodiscard]] boost::asio::any_io_executor executor() const {
    return threads_.executors().front();
  }

  // Makes everything durable and closes the stores.
  [[nodiscard]] Result<void> close();

 private:
  explicit OpenedData(Options options);
  Result<void> open_stores(DataUse use);

  Options options_;
  const SystemClock clock_;
  prometheus::Registry registry_;
  IoThreads threads_;
  std::unique_ptr<DataDir> data_dir_;  // null: the store has none
  std::unique_ptr<Stores> stores_;     // null: closed
};

}  // namespace halite::app
