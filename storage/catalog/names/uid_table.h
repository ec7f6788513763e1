// Names and their ids: metrics, tag keys, tag values (OpenTSDB's tsdb-uid table, byte for byte).
//
// Assignment is atomic across coroutines, threads and processes: it increments the counter, then
// writes id -> name and name -> id with compare-and-put. The loser of the last step uses the
// winner's id, and its own is lost. Pairs are cached and their names stay valid with the table
// object. Unknown names are looked up each time.
//
//   Names     are UTF-8, whatever their bytes in the table (name_bytes.h); see check_name()
//             (name_kind.h).
//   Lifetime  a table that removes names (name_remover()) keeps those that you looked up while you
//             keep a pin() acquired before.
//   Threads   call from any thread.
//   Errors    kNotFound "No such name for 'metrics': 'x'",
//             "No such unique ID for 'metrics': [0, 0, 1]";
//             kTooLarge "All Unique IDs for metrics on 3 bytes are already assigned!".
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "storage/api/point_store.h"
#include "storage/api/wide_column.h"
#include "storage/catalog/names/name_bytes.h"
#include "storage/cells/layouts/row_layout.h"

namespace halite::storage {

class NameRemover;
class NameLog;
struct LoggedName;
struct NamePart;

class UidTable {
 public:
  // Families: 0 = id, 1 = name, as in uid_table_spec().
  UidTable(std::shared_ptr<Table> table, UidWidths widths, NameForm form = NameForm::kUtf8);
  ~UidTable();

  struct NameMapping {
    std::uint64_t uid = 0;
    std::string_view name;
  };

  // Observes changes made through this object. The caller that makes a change calls it when the
  // change is durable; with defer(), a new id is durable only at flush_rows(). It must not block.
  struct Watcher {
    std::function<void(NameKind, const NameMapping&)> assigned;  // a new id; may be empty
    std::function<void(NameKind, const NameMapping&)> renamed;   // an id's new name; may be empty
    // Called before a rename with the old pair and the new name; an error cancels the rename. It
    // may wait, and may be empty.
    std::function<Task<void>(NameKind, const NameMapping&, std::string)> renaming = {};
  };
  // Call before all other calls.
  void watch(Watcher watcher);

  // Defers rows, for a process that alone writes the table: new names go into this log, and their
  // rows wait for flush_rows(). The log must outlive this object. Call before all other calls.
  void defer(NameLog& log);
  // With defer(), before lookups: adds a part of the names of an earlier log that have no rows.
  void restore(const std::vector<LoggedName>& names, NamePart part);
  // Removes unused names; nullptr without defer().
  [[nodiscard]] NameRemover* name_remover();
  // Sets the source of pins. Call before all other calls.
  void pin_with(std::function<std::shared_ptr<const SeriesPin>()> pin);
  // Acquire before you look up names or ids, and keep it while you use them. Null if names are
  // never removed.
  [[nodiscard]] std::shared_ptr<const SeriesPin> pin() const;
  // Writes all deferred rows. Call it before you read or write the table directly. Costs nothing if
  // none is deferred.
  Task<void> flush_rows();
  // Returns unused ids of defer() to the counter. Call only find(), cached() and similar after it.
  Task<void> give_back();

  Task<NameMapping> find(NameKind kind, std::string name);
  Task<NameMapping> find_or_assign(NameKind kind, std::string name);
  Task<NameMapping> name_of(NameKind kind, std::uint64_t uid);

  struct NameRequest {
    NameKind kind = NameKind::kMetric;
    std::string name;
    bool create = false;  // assign an id if it has none
  };
  // Resolves many names, in order, with one read for those that are not cached. New names get
  // ascending ids in this order. Concurrent callers for a new name share one assignment. Created
  // names are durable when it returns.
  Task<std::vector<Result<NameMapping>>> resolve(std::vector<NameRequest> requests);
  // Like resolve(), but does not wait for defer()'s log. For callers that append to that log later.
  Task<std::vector<Result<NameMapping>>> resolve_logged(std::vector<NameRequest> requests);

  struct UidRequest {
    NameKind kind = NameKind::kMetric;
    std::uint64_t uid = 0;
  };
  Task<std::vector<Result<NameMapping>>> names_of(std::vector<UidRequest> requests);

  // Marks names to be kept though no series uses them. Durable when it returns. Does nothing if
  // names are never removed.
  Task<void> keep(std::vector<UidRequest> names);

  // Assigns an id to a new name. kConflict "Name already exists with UID: 000001".
  Task<NameMapping> assign(NameKind kind, std::string name);

  // Renames an id, which keeps its points. Durable when it returns. Other processes that have
  // cached the old name keep it until they restart. kNotFound: no old_name; kConflict: new_name
  // exists.
  Task<void> rename(NameKind kind, std::string old_name, std::string new_name);

  // Looks up the cache only; never waits. nullptr: not cached.
  [[nodiscard]] const NameMapping* cached(NameKind kind, std::string_view name) const;
  [[nodiscard]] const NameMapping* cached(NameKind kind, std::uint64_t uid) const;

  // Names with this prefix, in order; at most max.
  Task<std::vector<std::string>> suggest(NameKind kind, std::string prefix, std::size_t max);

  [[nodiscard]] Bytes uid_bytes(NameKind kind, std::uint64_t uid) const;  // with the kind's width

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

[[nodiscard]] TableSpec uid_table_spec(std::string name);

}  // namespace halite::storage
