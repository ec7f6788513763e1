// The assignment protocol of the name table, for one name (UidTable shares and batches it).
//
// It writes the counter, then id -> name, then name -> id. After each step every reader understands
// the table, so a crash between two steps loses at most one id.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "storage/catalog/names/name_bytes.h"
#include "storage/catalog/names/uid_table.h"

namespace halite::storage {

inline constexpr Family kIdFamily = 0;    // row = name, value = id
inline constexpr Family kNameFamily = 1;  // row = id, value = name

// What a cell of the name family says about the id of its row.
struct NameCell {
  enum class Says : std::uint8_t {
    kName,  // the name of a kind
    // A UIDMeta object ("metric_meta") or a manual assignment ("metric_assigned") keeps the id.
    kStays,
    kFreed,  // when its name was removed, ms since 1970, 8 bytes ("metric_freed")
  };
  NameKind kind = NameKind::kMetric;
  Says says = Says::kStays;
};
[[nodiscard]] std::optional<NameCell> name_cell(BytesView qualifier);
[[nodiscard]] Bytes assigned_qualifier(NameKind kind);
[[nodiscard]] Bytes freed_qualifier(NameKind kind);

class UidAssigner {
 public:
  UidAssigner(std::shared_ptr<Table> table, UidWidths widths, NameForm form = NameForm::kUtf8);

  // The encoding of names in rows and cells.
  [[nodiscard]] const NameBytes& bytes() const { return bytes_; }
  [[nodiscard]] unsigned width(NameKind kind) const;
  [[nodiscard]] Bytes encode(NameKind kind, std::uint64_t uid) const;
  // The id in a cell of the id family; kCorruption for another width.
  [[nodiscard]] Result<std::uint64_t> decode(NameKind kind, BytesView cell) const;

  // The greatest id of the kind's width.
  [[nodiscard]] std::uint64_t largest(NameKind kind) const;
  // kTooLarge for 0 and for ids that exceed the kind's width.
  [[nodiscard]] Result<void> check(NameKind kind, std::uint64_t uid) const;

  // Reserves count ids and returns the first. It may exceed largest(): call check().
  Task<std::uint64_t> reserve(NameKind kind, std::uint64_t count);

  // Raises the counter to at least `uid`. If other processes use it, more ids may be skipped.
  Task<void> raise(NameKind kind, std::uint64_t uid);

  // The greatest id ever reserved; 0 = none.
  Task<std::uint64_t> last_reserved(NameKind kind);

  // Lowers the counter by `count` unless other processes have moved it: `end` is the first id that
  // was not reserved.
  Task<void> give_back(NameKind kind, std::uint64_t end, std::uint64_t count);

  // Assigns the reserved id to `name`, or a new one if that is in use. Returns the id that the name
  // has at the end, which may come from another process.
  Task<std::uint64_t> assign(NameKind kind, std::string name, std::uint64_t reserved);

  // Writes id -> name; false if the id belongs to another name.
  Task<bool> put_reverse(NameKind kind, std::uint64_t uid, std::string name);

  // Writes name -> id if it is absent; returns the stored id.
  Task<std::uint64_t> put_forward(NameKind kind, std::string name, std::uint64_t uid);

  // One cell of the kind, or nullopt.
  Task<std::optional<Bytes>> read(NameKind kind, Family family, Bytes row);

 private:
  // Writes a cell if it is absent; returns the stored value.
  Task<Bytes> put_absent(NameKind kind, Family family, Bytes row, Bytes value);

  std::shared_ptr<Table> table_;
  UidWidths widths_;
  NameBytes bytes_;
};

}  // namespace halite::storage
