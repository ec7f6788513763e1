// Names and their ids: metrics, tag keys, tag values (OpenTSDB's tsdb-uid table, byte for byte).
//
// Assignment is atomic across coroutines, threads and processes on one table: increment the
// counter, then compare-and-put id -> name, then name -> id; whoever loses the last step takes the
// winner's id and leaks his own. Found pairs are cached for ever; name views stay valid as long as
// the table object. What is not found is asked again each time.
//
//   Names     are UTF-8, whatever their bytes in the table (name_bytes.h); see check_name()
//             (name_kind.h).
//   Lifetime  a table that forgets names (name_remover()) keeps those that somebody was told of
//   while
//             he keeps a pin() from before.
//   Threads   any call from any thread.
//   Errors    kNotFound "No such name for 'metrics': 'x'", "No such unique ID for 'metrics': [0, 0,
//             1]";
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

class UidTable {
 public:
  // Families: 0 = id, 1 = name, as in uid_table_spec().
  UidTable(std::shared_ptr<Table> table, UidWidths widths, NameForm form = NameForm::kUtf8);
  ~UidTable();

  struct NameMapping {
    std::uint64_t uid = 0;
    std::string_view name;
  };

  // Who wants to know of changes made through this object. Called by whoever made them, once they
  // are durable (with defer() a new id is at flush_rows()); it must not wait.
  struct Watcher {
    std::function<void(NameKind, const NameMapping&)> assigned;  // a new id; may be empty
    std::function<void(NameKind, const NameMapping&)> renamed;   // an id's new name; may be empty
    // Before a name is changed, with the old pair and the new name; an error ends it. May wait; may
    // be empty.
    std::function<Task<void>(NameKind, const NameMapping&, std::string)> renaming = {};
  };
  // Before any other call.
  void watch(Watcher watcher);

  // For who owns the table alone: new names go into this log first, which outlives this object, and
  // their rows wait for flush_rows(). Before any other call.
  void defer(NameLog& log);
  // What forgets names that nothing uses; nullptr without defer().
  [[nodiscard]] NameRemover* name_remover();
  // Where holds come from. Before any other call.
  void pin_with(std::function<std::shared_ptr<const SeriesPin>()> pin);
  // To be taken before names or ids are asked for, and kept as long as the answers are used. Null
  // where names are not forgotten.
  [[nodiscard]] std::shared_ptr<const SeriesPin> pin() const;
  // Afterwards every name that has an id has its rows: for those who read or write the table
  // itself. Costs nothing where none waits, and without defer().
  Task<void> flush_rows();
  // What defer() has reserved of ids and not given goes back. Only find(), cached() and the like
  // may follow.
  Task<void> give_back();

  Task<NameMapping> find(NameKind kind, std::string name);
  Task<NameMapping> find_or_assign(NameKind kind, std::string name);
  Task<NameMapping> name_of(NameKind kind, std::uint64_t uid);

  struct NameRequest {
    NameKind kind = NameKind::kMetric;
    std::string name;
    bool create = false;  // give it an id when it has none
  };
  // Many names at once, in the order asked, with one read for all that the cache does not know.
  // New names get ascending ids in that order. Callers that ask for one new name at the same time
  // share one assignment. What was to be created is durable afterwards.
  Task<std::vector<Result<NameMapping>>> resolve(std::vector<NameRequest> requests);
  // The same without a wait for defer()'s log, for who appends to that what uses the ids.
  Task<std::vector<Result<NameMapping>>> resolve_logged(std::vector<NameRequest> requests);

  struct UidRequest {
    NameKind kind = NameKind::kMetric;
    std::uint64_t uid = 0;
  };
  Task<std::vector<Result<NameMapping>>> names_of(std::vector<UidRequest> requests);

  // These stay though no series uses them. Durable when it returns; nothing to do where names are
  // not forgotten.
  Task<void> keep(std::vector<UidRequest> names);

  // Gives a new name its id. kConflict "Name already exists with UID: 000001".
  Task<NameMapping> assign(NameKind kind, std::string name);

  // Durable at once. The id keeps its points and answers to new_name from now on; other processes
  // that have cached the old pair keep it until they restart. kNotFound: old_name; kConflict:
  // new_name is taken.
  Task<void> rename(NameKind kind, std::string old_name, std::string new_name);

  // From the cache alone, without a wait; nullptr when it is not there.
  [[nodiscard]] const NameMapping* cached(NameKind kind, std::string_view name) const;
  [[nodiscard]] const NameMapping* cached(NameKind kind, std::uint64_t uid) const;

  // Names that begin with prefix, in order, at most max.
  Task<std::vector<std::string>> suggest(NameKind kind, std::string prefix, std::size_t max);

  [[nodiscard]] Bytes uid_bytes(NameKind kind, std::uint64_t uid) const;  // at the kind's width

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

[[nodiscard]] TableSpec uid_table_spec(std::string name);

}  // namespace halite::storage
