// UIDMeta, OpenTSDB's metadata object for a name, stored beside the name in the name table.
//
//   row      the uid's bytes
//   cell     family "name", metric_meta, tagk_meta or tagv_meta
//   stored   {"type":"METRIC","displayName":"..","description":"..","notes":"..","created":s,
//            "custom":null}, byte for byte as OpenTSDB stores it
//   shown    {"uid","type","name","description","notes","created","custom","displayName"}
//
//   Threads  call from any thread; concurrent edits of an object all take effect.
//   Errors   kNotFound: no name has this uid. kInvalidArgument: a uid of another width.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json/object.hpp>

#include "common/bytes/bytes.h"
#include "common/threads/task.h"
#include "storage/api/wide_column.h"
#include "storage/catalog/names/uid_table.h"
#include "storage/meta/objects/json_fields.h"

namespace halite::storage {

struct UidMeta {
  std::optional<NameKind> kind;
  std::string uid;  // hexadecimal
  std::string name;
  std::optional<std::string> display_name = "";
  std::optional<std::string> description = "";
  std::optional<std::string> notes = "";
  std::int64_t created_s = 0;  // seconds since 1970; 0 = not known
  std::optional<CustomFields> custom;
  bool operator==(const UidMeta&) const = default;
};

// The changes of a request; a field counts as given if it differs from its default.
struct UidMetaEdit {
  UidMeta meta;
  [[nodiscard]] bool changes_anything() const;
};

// "metric" or "metrics", "tagk", "tagv", in any case. kInvalidArgument otherwise.
[[nodiscard]] Result<NameKind> parse_uid_type(std::string_view text);
[[nodiscard]] std::string_view uid_type_text(NameKind kind);  // "METRIC", "TAGK", "TAGV"

[[nodiscard]] Result<UidMeta> parse_uid_meta(const boost::json::object& object);
[[nodiscard]] Result<UidMeta> parse_uid_meta(std::string_view json);
[[nodiscard]] UidMeta merged(const UidMetaEdit& edit, const UidMeta& stored, bool replace);
[[nodiscard]] std::string stored_json(const UidMeta& meta);
void append_shown_json(std::string& to, const UidMeta& meta);

class UidMetaStore {
 public:
  // The table that `uids` uses. Both must outlive the store.
  UidMetaStore(std::shared_ptr<Table> table, UidTable& uids, UidWidths widths);

  struct Key {
    NameKind kind = NameKind::kMetric;
    Bytes uid;
  };
  // The stored object, or the defaults if there is none, with the name.
  Task<UidMeta> get(Key key);
  Task<std::vector<UidMeta>> get_all(std::vector<Key> keys);

  // Creates it, or changes the fields that the edit gives; `replace` resets the others. Returns the
  // stored object.
  Task<UidMeta> put(Key key, UidMetaEdit edit, bool replace);

  // Creates an object with only its creation time, if there is none.
  Task<void> create(NameKind kind, std::uint64_t uid, std::int64_t created_s);

  // Writes the deferred rows of all names.
  Task<void> flush_rows();

  // Succeeds also if there is none.
  Task<void> remove(Key key);

 private:
  [[nodiscard]] Result<std::uint64_t> number_of(const Key& key) const;

  const std::shared_ptr<Table> table_;
  UidTable& uids_;
  const UidWidths widths_;
};

}  // namespace halite::storage
