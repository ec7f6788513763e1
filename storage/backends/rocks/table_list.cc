#include "storage/backends/rocks/table_list.h"

#include <boost/json.hpp>
#include <fmt/format.h>

#include "common/json/json_value.h"

namespace halite::storage::rocks {

namespace json = boost::json;

std::string table_text(const std::vector<FamilySpec>& families) {
  json::array list;
  for (const FamilySpec& family : families) {
    list.push_back(json::object({{"name", family.name}, {"ttl_ms", family.ttl_ms}}));
  }
  return json::serialize(json::object({{"families", std::move(list)}}));
}

namespace {

const json::value* member(const json::value* of, std::string_view name) {
  const json::object* object = of == nullptr ? nullptr : of->if_object();
  return object == nullptr ? nullptr : object->if_contains(name);
}

std::optional<FamilySpec> family_spec(const json::value& text) {
  const json::value* name = member(&text, "name");
  const json::value* ttl_ms = member(&text, "ttl_ms");
  if (name == nullptr || !name->is_string() || ttl_ms == nullptr || !ttl_ms->is_int64()) {
    return std::nullopt;
  }
  return FamilySpec{std::string(name->get_string()), ttl_ms->get_int64()};
}

}  // namespace

Result<std::vector<FamilySpec>> parse_table_text(std::string_view text) {
  json::error_code error;
  const json::value parsed = parse_json_value(text, error);
  const json::value* list = error ? nullptr : member(&parsed, "families");
  std::vector<FamilySpec> families;
  if (list != nullptr && list->is_array()) {
    for (const json::value& item : list->get_array()) {
      auto family = family_spec(item);
      if (!family) break;
      families.push_back(*std::move(family));
    }
    if (families.size() == list->get_array().size() && !families.empty()) return families;
  }
  return fail(Errc::kCorruption, fmt::format("not the families of a table: {}", text));
}

}  // namespace halite::storage::rocks
