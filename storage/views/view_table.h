// The table of all views (docs/formats/views.md).
//
//   definitions  'v' · name                           ""       -> view(4) · definition
//   removed      'x' · view(4)                        ""       -> ""
//   built units  's' · view(4) · metric uid           day(4)   -> bits of its built units(4)
//                                                     "oldest" -> day(4) from which units are built
//   groups       'g' · view(4) · metric uid · pairs   ""       -> ""
//   totals       'd' · view(4) · metric uid · day(4) · pairs
//                                                     unit(1)  -> view_cell.h
//
// pairs are the tag pairs of the group's tsuid. Days count from 1970, in UTC; unit 0 begins with
// the day. A unit without its bit may have outdated totals.
//
//   Threads  call from any thread. The table must outlive running calls.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/clock.h"
#include "common/threads/task.h"
#include "common/units.h"
#include "storage/api/series_iterator.h"
#include "storage/api/wide_column.h"
#include "storage/cells/layouts/row_layout.h"

namespace halite::storage {

using ViewId = std::uint32_t;
using Day = std::uint32_t;  // since 1970, UTC

[[nodiscard]] inline Day day_of(TimestampMs time) { return static_cast<Day>(time / kDayMs); }
[[nodiscard]] inline TimestampMs begin_of(Day day) {
  return static_cast<std::int64_t>(day) * kDayMs;
}

struct StoredView {
  ViewId id = 0;
  std::string name;
  std::string definition;
};

// The built units of one metric in one view.
struct StoredUnits {
  ViewId view = 0;
  Bytes metric;  // uid
  std::optional<Day> oldest;
  std::map<Day, std::uint32_t> built;  // bit i: unit i
};

// The built units of one day.
struct UnitBits {
  ViewId view = 0;
  Bytes metric;  // uid
  Day day = 0;
  std::uint32_t built = 0;  // bit i: unit i
};

// The totals of one group in one day: cells by unit.
struct StoredDay {
  Day day = 0;
  Bytes group;  // tsuid
  std::map<std::uint8_t, Bytes> units;
};

class ViewTable {
 public:
  ViewTable(std::shared_ptr<Table> table, UidWidths widths)
      : table_(std::move(table)), widths_(widths) {}

  static TableSpec spec(std::string name);

  Task<std::vector<StoredView>> views();
  Task<void> write_view(StoredView view);
  // From now on the id is not in use; clear_removed() deletes what it has. May be repeated.
  Task<void> mark_removed(ViewId view);
  Task<void> remove_definition(std::string name);
  Task<std::vector<ViewId>> removed();
  Task<void> clear_removed(ViewId view);

  Task<std::vector<StoredUnits>> units();
  // Writes the bits of days; without bits, a day is removed.
  Task<void> write_units(std::vector<UnitBits> days);
  Task<void> write_oldest(ViewId view, Bytes metric, Day oldest);

  Task<std::vector<Bytes>> groups(ViewId view, Bytes metric);
  // The groups of all views, for collectors of names.
  [[nodiscard]] std::unique_ptr<SeriesIterator> all_groups();

  // The size of a view's totals.
  Task<RangeEstimate> estimate(ViewId view);

  // Replaces units: an empty cell removes it.
  Task<void> write_days(ViewId view, std::vector<StoredDay> days);
  // Passes the stored days from `begin` to `end` (exclusive), in order.
  using TakeDay = std::function<Result<void>(StoredDay)>;
  Task<void> read_days(ViewId view, Bytes metric, Day begin, Day end, ReadContext context,
                       TakeDay take);
  // Deletes the totals of days before this one.
  Task<void> remove_days_before(ViewId view, Bytes metric, Day day);

 private:
  [[nodiscard]] Bytes key(char kind, ViewId view, BytesView metric) const;
  Task<void> remove_rows(KeyRange range);

  const std::shared_ptr<Table> table_;
  const UidWidths widths_;
};

}  // namespace halite::storage
