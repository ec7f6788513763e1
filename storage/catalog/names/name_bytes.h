// Encodes names as bytes for the rows and cells of a name table.
//
// OpenTSDB stores names as ISO-8859-1 and cannot encode other letters. A name with other letters is
// stored as a zero byte and its UTF-8; no name of OpenTSDB begins with a zero byte. See
// docs/formats/names-and-series.md, docs/decisions/0040-names-as-opentsdb-writes-them.md.
//
//   Names    are UTF-8. Invalid UTF-8 stands for its own bytes.
//   Threads  call from any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/bytes/bytes.h"
#include "storage/api/wide_column.h"

namespace halite::storage {

enum class NameForm : std::uint8_t {
  kUtf8,      // a table of Halite's own: names are their bytes
  kOpentsdb,  // ISO-8859-1, or marked UTF-8
  kMixed,     // like kOpentsdb, in a table where earlier versions left unmarked UTF-8
};

class NameBytes {
 public:
  explicit NameBytes(NameForm form) : form_(form) {}

  // The bytes of a name; distinct for distinct names.
  [[nodiscard]] Bytes of(std::string_view name) const;
  // The bytes that an earlier version may have stored for it; nullopt if they equal of().
  [[nodiscard]] std::optional<Bytes> earlier(std::string_view name) const;
  // The name that these bytes encode, in the form of of(), earlier() or OpenTSDB.
  [[nodiscard]] std::string name(BytesView bytes) const;
  // Key ranges that contain all names with `prefix`, and perhaps others. Ranges may overlap.
  [[nodiscard]] std::vector<KeyRange> ranges(std::string_view prefix) const;

 private:
  const NameForm form_;
};

}  // namespace halite::storage
