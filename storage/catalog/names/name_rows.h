// Rows of a names table by the names they stand for, whatever the form (name_bytes.h).
//
// In a mixed table a name may have a row of OpenTSDB's form and one that an earlier version left.
// OpenTSDB's counts. Where there is only the other, its id is the name's, and it gets OpenTSDB's
// row as well when it is first met, so that nobody makes a second one.
//
//   Threads  any call from any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "storage/catalog/names/uid_assigner.h"
#include "storage/catalog/names/uid_table.h"

namespace halite::storage {

class NameRows {
 public:
  using Ids = std::vector<std::optional<std::uint64_t>>;

  // The assigner outlives it.
  NameRows(std::shared_ptr<Table> table, UidAssigner& ids) : table_(std::move(table)), ids_(ids) {}

  // The ids of these names, in the order asked, by one read, or two in a mixed table.
  Task<Ids> ids(std::vector<UidTable::NameRequest> names);

  // id -> name, over what stands there.
  Task<void> put_name(NameKind kind, std::uint64_t uid, std::string name);

  // The rows that lead from a name to its id, of either form.
  Task<void> delete_name(NameKind kind, std::string name, std::uint64_t uid);

  // Names in a range of keys that begin with `prefix`, in order of keys, at most max.
  Task<std::vector<std::string>> names_in(NameKind kind, KeyRange range, std::string prefix,
                                          std::size_t max);

 private:
  using NameRow = std::pair<NameKind, Bytes>;

  Task<Ids> read_rows(const std::vector<NameRow>& rows);
  Task<void> add_earlier(const std::vector<UidTable::NameRequest>& asked, Ids& uids);
  Task<std::uint64_t> rewrite(NameKind kind, std::string name, std::uint64_t uid);

  const std::shared_ptr<Table> table_;
  UidAssigner& ids_;
};

}  // namespace halite::storage
