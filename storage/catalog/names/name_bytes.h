// The bytes that stand for a name in a names table, in its rows and in its cells.
//
// OpenTSDB keeps names as ISO-8859-1 and has no bytes for other letters. A name that ISO-8859-1
// cannot hold has a zero byte in front of its UTF-8 here, which no name of OpenTSDB's begins with:
// docs/formats/names-and-series.md, docs/decisions/0040-names-as-opentsdb-writes-them.md.
//
//   Names    are UTF-8. What is not stands for its own bytes.
//   Threads  any call from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/bytes.h"
#include "storage/api/wide_column.h"

namespace halite::storage {

enum class NameForm : std::uint8_t {
  kUtf8,      // a table of our own: names are their bytes
  kOpentsdb,  // ISO-8859-1, or marked UTF-8
  kMixed,     // the same, in a table where earlier versions have left UTF-8 without a mark
};

class NameBytes {
 public:
  explicit NameBytes(NameForm form) : form_(form) {}

  // The bytes of a name, other ones for each name.
  [[nodiscard]] Bytes of(std::string_view name) const;
  // Those that an earlier version may have left for it; nothing where they would be the same.
  [[nodiscard]] std::optional<Bytes> earlier(std::string_view name) const;
  // The name of such bytes, be they of() or earlier() or OpenTSDB's.
  [[nodiscard]] std::string name(BytesView bytes) const;
  // Where the names are that begin with `prefix`; others may be there, too. Ranges may overlap.
  [[nodiscard]] std::vector<KeyRange> ranges(std::string_view prefix) const;

 private:
  const NameForm form_;
};

}  // namespace halite::storage
