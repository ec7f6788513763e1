// Selects the rows of a scan; tests each series once against the selection.
//
//   Threads  call from any thread. A store tests row keys on its own threads.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include "common/bytes/bytes.h"
#include "storage/api/wide_column.h"
#include "storage/catalog/selection.h"
#include "storage/catalog/series_registry.h"
#include "storage/cells/layouts/row_layout.h"

namespace halite::storage {

class SeriesRowFilter final : public RowFilter {
 public:
  enum class Match : std::uint8_t {
    kUnknown,  // the series is not in memory yet
    kUnwanted,
    kWanted,
  };

  // Narrows the selection by `only` and `except`. layout and registry must outlive it.
  SeriesRowFilter(const RowLayout& layout, const SeriesRegistry& registry,
                  std::shared_ptr<const RowSelection> selection,
                  std::optional<std::vector<SeriesId>> only, std::vector<SeriesId> except);

  // Sets `series` if the series is known.
  [[nodiscard]] Match match(const Bytes& tsuid, SeriesId& series) const;

  // Also true for rows of unknown series and for invalid keys, which the scan reports.
  [[nodiscard]] bool matches(BytesView row) const override;

 private:
  struct DecidedSeries {
    SeriesId series = 0;
    bool wanted = false;
  };
  struct BytesHash {
    using is_transparent = void;
    using is_avalanching = void;
    std::size_t operator()(BytesView bytes) const;
  };

  [[nodiscard]] bool decide(SeriesId id) const;

  const RowLayout& layout_;
  const SeriesRegistry& registry_;
  const std::shared_ptr<const RowSelection> selection_;
  std::optional<std::vector<SeriesId>> only_;  // sorted, like `except_`
  std::vector<SeriesId> except_;
  mutable std::mutex mutex_;
  mutable boost::unordered_flat_map<Bytes, DecidedSeries, BytesHash, std::equal_to<>>
      decided_;  // guarded by mutex_
};

}  // namespace halite::storage
