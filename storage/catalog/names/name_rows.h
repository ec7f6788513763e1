// Reads and writes the rows of a name table by name, in any form (name_bytes.h).
//
// In a mixed table a name may have a row in OpenTSDB's form and one from an earlier version.
// OpenTSDB's row wins. If only the other exists, its id is valid, and the first lookup also writes
// OpenTSDB's row, so that no process assigns a second id.
//
//   Threads  call from any thread.
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

  // The assigner must outlive it.
  NameRows(std::shared_ptr<Table> table, UidAssigner& ids) : table_(std::move(table)), ids_(ids) {}

  // The ids of these names, in order, with one read, or two in a mixed table.
  Task<Ids> ids(std::vector<UidTable::NameRequest> names);

  // Writes id -> name, replacing the old name.
  Task<void> put_name(NameKind kind, std::uint64_t uid, std::string name);

  // Deletes the rows that map a name to its id, in both forms.
  Task<void> delete_name(NameKind kind, std::string name, std::uint64_t uid);

  // Names in a key range that begin with `prefix`, in key order; at most max.
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
