// A log on faulty files, and what it gives back when it is opened.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <prometheus/registry.h>

#include "storage/tsdb/wal/log.h"
#include "tests/support/faulty_files.h"
#include "tests/support/run_task.h"

namespace halite::storage {

class LogWorld {
 public:
  explicit LogWorld(std::uint32_t seed = 1) : files(std::make_shared<test::FaultyFiles>(seed)) {
    options.dir = "/data/log";
    options.segment_bytes = 64 << 10;
    options.segment_bytes_min = 8 << 10;
    options.spare_segments_max = 2;
    options.record_bytes_max = 16 << 10;
    options.group_bytes = 16 << 10;
    options.commit_interval_ms = 0;
    options.idle_mark_ms = 0;
  }

  Result<void> open() {
    log.reset();
    replayed.clear();
    progress.clear();
    ReplayCallbacks callbacks;
    callbacks.record = [this](Sequence sequence, BytesView payload) -> Result<void> {
      replayed.emplace_back(sequence, payload);
      return {};
    };
    callbacks.progress = [this](const ReplayProgress& now) -> Result<void> {
      progress.push_back(now);
      return {};
    };
    TRY(log, Log::open(files, options, callbacks, *registry));
    return {};
  }

  // Appends and waits until it is durable.
  Result<Sequence> put(BytesView payload) {
    TRY(const Sequence sequence, log->append(payload));
    TRY_VOID(wait(sequence));
    return sequence;
  }
  Result<void> wait(Sequence sequence) {
    const Completion durable = log->durable(sequence);
    log->request_sync();
    return test::run_task(durable.wait());
  }

  std::vector<std::string> names() const { return files->list(options.dir).value(); }
  // Of the segments, oldest first.
  std::vector<std::string> segments() const {
    std::vector<std::string> paths;
    for (const std::string& name : names()) {
      if (name.ends_with(".log")) paths.push_back(options.dir + "/" + name);
    }
    return paths;
  }
  std::size_t spares() const {
    std::size_t count = 0;
    for (const std::string& name : names()) count += name.starts_with("spare-") ? 1 : 0;
    return count;
  }

  std::shared_ptr<test::FaultyFiles> files;
  LogOptions options;
  std::shared_ptr<prometheus::Registry> registry = std::make_shared<prometheus::Registry>();
  std::unique_ptr<Log> log;
  std::vector<std::pair<Sequence, Bytes>> replayed;  // by the last open()
  std::vector<ReplayProgress> progress;
};

}  // namespace halite::storage
