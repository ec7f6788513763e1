// The assignment protocol of the names table, one name at a time (UidTable shares and batches it).
//
// Counter, id -> name, name -> id: each step leaves a table that every reader understands, so a
// process may die between any two of them and leak no more than one id.
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

// What a cell of the name family says of the id that is its row.
struct NameCell {
  enum class Says : std::uint8_t {
    kName,   // its name of a kind
    kStays,  // though no series uses it: it has a UIDMeta object (OpenTSDB's "metric_meta"), or was
             // assigned by hand (our "metric_assigned")
    kFreed,  // when its name went, ms since 1970 in 8 bytes (our "metric_freed"): no new name has
             // it yet
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

  // What stands for names in rows and cells.
  [[nodiscard]] const NameBytes& bytes() const { return bytes_; }
  [[nodiscard]] unsigned width(NameKind kind) const;
  [[nodiscard]] Bytes encode(NameKind kind, std::uint64_t uid) const;
  // The id in a cell of the id family; kCorruption for another width.
  [[nodiscard]] Result<std::uint64_t> decode(NameKind kind, BytesView cell) const;

  // The greatest id that the kind's width has room for.
  [[nodiscard]] std::uint64_t largest(NameKind kind) const;
  // kTooLarge for an id that the kind's width has no room for, and for 0.
  [[nodiscard]] Result<void> check(NameKind kind, std::uint64_t uid) const;

  // Takes count new ids off the counter; the first of them. May pass the largest id: check() tells.
  Task<std::uint64_t> reserve(NameKind kind, std::uint64_t count);

  // The counter stands at `uid` at least afterwards. Where others use it, more ids may be skipped.
  Task<void> raise(NameKind kind, std::uint64_t uid);

  // The greatest id ever taken off the counter; 0 = none.
  Task<std::uint64_t> last_reserved(NameKind kind);

  // Sets the counter back by `count` unless others have moved it: `end` is the first id that was
  // not reserved.
  Task<void> give_back(NameKind kind, std::uint64_t end, std::uint64_t count);

  // Gives `name` the reserved id, or another new one when that is taken. Returns the id that the
  // name has at the end, which is another's when another was quicker.
  Task<std::uint64_t> assign(NameKind kind, std::string name, std::uint64_t reserved);

  // Writes id -> name; false when the id belongs to another name.
  Task<bool> put_reverse(NameKind kind, std::uint64_t uid, std::string name);

  // Writes name -> id where there is none; returns the id that stands there at the end.
  Task<std::uint64_t> put_forward(NameKind kind, std::string name, std::uint64_t uid);

  // One cell of the kind, or nothing.
  Task<std::optional<Bytes>> read(NameKind kind, Family family, Bytes row);

 private:
  // Compare-and-put of a cell that is not there yet; what it holds at the end.
  Task<Bytes> put_absent(NameKind kind, Family family, Bytes row, Bytes value);

  std::shared_ptr<Table> table_;
  UidWidths widths_;
  NameBytes bytes_;
};

}  // namespace halite::storage
