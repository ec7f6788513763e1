// Bodies of annotations, metadata and trees, and what is stored of them. The first byte chooses.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/check.h"
#include "storage/meta/objects/annotation.h"
#include "storage/meta/objects/ts_meta.h"
#include "storage/meta/objects/uid_meta.h"
#include "storage/meta/trees/tree.h"

namespace halite::storage {
namespace {

std::string text_of(const TreeRule& rule) {
  std::string text;
  append_shown_json(text, rule);  // also what is stored
  return text;
}

// What is stored of a body is read back as what was stored.
template <class Stored, class Parse>
void check_stored(const std::string& stored, const Stored& store, const Parse& parse) {
  const auto again = parse(std::string_view(stored));
  HALITE_CHECK(again.has_value(), "what is stored can be read");
  HALITE_CHECK(store(*again) == stored, "and is the same");
}

}  // namespace

void check_body(std::uint8_t which, std::string_view json) {
  switch (which % 6) {
    case 0: {
      const auto parse = [](std::string_view text) { return parse_annotation(text); };
      const auto store = [](const Annotation& note) { return stored_json(note); };
      if (const auto note = parse(json)) check_stored(store(*note), store, parse);
      break;
    }
    case 1: {
      const auto parse = [](std::string_view text) { return parse_uid_meta(text); };
      const auto store = [](const UidMeta& meta) { return stored_json(meta); };
      if (const auto meta = parse(json)) check_stored(store(*meta), store, parse);
      break;
    }
    case 2: {
      const auto store = [](const TsMetaEdit& edit) { return stored_json(edit.meta); };
      if (const auto edit = parse_ts_meta(json)) check_stored(store(*edit), store, parse_ts_meta);
      break;
    }
    case 3: {
      const auto parse = [](std::string_view text) { return parse_tree_rule(text); };
      const auto rule = parse(json);
      if (rule && check_tree_rule(*rule)) check_stored(text_of(*rule), text_of, parse);
      break;
    }
    case 4: {
      const auto store = [](const Tree& tree) { return stored_json(tree); };
      if (const auto tree = parse_stored_tree(json)) {
        check_stored(store(*tree), store, parse_stored_tree);
      }
      break;
    }
    default: {
      const auto edit = parse_tree_edit(json);
      if (edit) static_cast<void>(merged(*edit, Tree{}, true));
    }
  }
}

}  // namespace halite::storage

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  halite::storage::check_body(data[0], {reinterpret_cast<const char*>(data) + 1, size - 1});
  return 0;
}
