// What ingest writes to: a point store, or the counters beside it.
//
//   Threads  call from any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/clock.h"
#include "common/data_point.h"
#include "common/threads/completion.h"
#include "common/threads/task.h"
#include "storage/api/pinned_series.h"
#include "storage/api/series.h"

namespace halite::storage {

// Points to append, in columns of equal length.
struct PointBatch {
  std::vector<SeriesId> series;
  std::vector<TimestampMs> times;
  std::vector<ValueBits> values;
  std::vector<std::uint8_t> flags;  // PointFlag bits

  void add(SeriesId id, TimestampMs time, ValueBits value, std::uint8_t flag) {
    series.push_back(id);
    times.push_back(time);
    values.push_back(value);
    flags.push_back(flag);
  }
  [[nodiscard]] std::size_t size() const { return series.size(); }

  // The rest is for increments of counters only.

  bool settle = false;  // append() waits until the outcome is known: `refused` is then complete
  Bytes once;           // not empty: nothing is added again that was added with this key before
};

struct Refusal {
  std::size_t index = 0;  // position in the batch
  Error error;
};

// The result of an append. Points that are not refused are accepted. When `durable` completes
// without an error, they are durable. When it completes with an error, each point may be stored or
// not: readers may see it now, and a restart may lose it. It is safe to append the points again.
// Of increments, kInvalidArgument says that some were refused late; the others are durable.
struct Accepted {
  Completion durable;
  std::vector<Refusal> refused;  // not stored; does not affect other points
};

// The kinds of names that the store may create.
struct CreateNames {
  bool metrics = true;
  bool tag_keys = true;
  bool tag_values = true;
};

using InternedSeries = Pinned<Result<SeriesId>>;

class PointSink {
 public:
  virtual ~PointSink() = default;

  // Returns the ids of series, in the order of `names`; creates series that do not exist. A name
  // that `create` does not allow is kNotFound: "No such name for 'metrics': 'x'".
  virtual Task<InternedSeries> intern(std::vector<SeriesName> names, CreateNames create) = 0;

  // Keeps series ids valid that you find elsewhere than in an answer, for example in a cache. Pin
  // before you look, and keep the pin while you use the ids. Ids that were stored in an epoch
  // before the pin's `series_epoch` may mean other series: do not use them.
  [[nodiscard]] virtual std::shared_ptr<const SeriesPin> pin_series() {
    static const auto kForEver = std::make_shared<const SeriesPin>();
    return kForEver;
  }

  // The series of an id. Keep the pin of the id while you use the series.
  [[nodiscard]] virtual const Series& series(SeriesId id) const = 0;

  // Stores points. Keep the pin of their ids until it returns. Waits while the store applies
  // back-pressure. After an error no point of the batch is stored, now or later.
  virtual Task<Accepted> append(PointBatch batch) = 0;

  // Starts a pending group commit now. Call it when a client waits for appended points.
  virtual void request_sync() {}
};

}  // namespace halite::storage
