#include "web/json/json_in.h"

#include <simdjson.h>

#include "common/bytes/read_number.h"
#include "common/json/json_fault.h"
#include "query/parse/json_text.h"

namespace halite::web {

namespace dom = simdjson::dom;

namespace {

constexpr std::size_t kDepthMax = 16;

Error bad_json(std::string details) {
  return {Errc::kInvalidArgument, "Unable to parse the given JSON", std::move(details)};
}

std::string element_text(dom::element element) {
  switch (element.type()) {
    case dom::element_type::STRING:
      return std::string(element.get_string().value_unsafe());
    case dom::element_type::NULL_VALUE:
    case dom::element_type::ARRAY:
    case dom::element_type::OBJECT:
      return {};
    default:
      return simdjson::minify(element);
  }
}

bool is_plain(dom::element element) {
  return element.type() != dom::element_type::NULL_VALUE &&
         element.type() != dom::element_type::ARRAY && element.type() != dom::element_type::OBJECT;
}

std::map<std::string, std::string> fields_of(dom::object object) {
  std::map<std::string, std::string> fields;
  for (const dom::key_value_pair field : object) {
    if (is_plain(field.value)) fields[std::string(field.key)] = element_text(field.value);
  }
  return fields;
}

// A parsed body. The parser owns the memory of the object.
struct Document {
  dom::parser parser;
  dom::object object;
};

Result<void> parse_object(std::string_view body, Document& document) {
  if (body.empty()) {
    return fail(Errc::kInvalidArgument, "Missing message content",
                "Supply valid JSON formatted data in the body of your request");
  }
  dom::element root;
  simdjson::error_code error = query::parse_body(document.parser, body, kDepthMax).get(root);
  if (!error) error = root.get_object().get(document.object);
  if (error) return std::unexpected(bad_json(json_fault(error)));
  return {};
}

}  // namespace

Result<std::map<std::string, std::string>> parse_flat_object(std::string_view body) {
  Document document;
  TRY_VOID(parse_object(body, document));
  return fields_of(document.object);
}

Result<LookupBody> parse_lookup_body(std::string_view body) {
  Document document;
  TRY_VOID(parse_object(body, document));
  LookupBody result;
  result.fields = fields_of(document.object);
  dom::element found;
  if (document.object["tags"].get(found) != simdjson::SUCCESS || found.is_null()) return result;
  dom::array tags;
  if (found.get(tags) != simdjson::SUCCESS) {
    return std::unexpected(bad_json("\"tags\" must be a list of objects"));
  }
  result.has_tags = true;
  for (const dom::element tag : tags) {
    dom::object pair;
    if (tag.get(pair) != simdjson::SUCCESS) {
      return std::unexpected(bad_json("a tag must be an object with \"key\" and \"value\""));
    }
    std::map<std::string, std::string> fields = fields_of(pair);
    result.tags.emplace_back(std::move(fields["key"]), std::move(fields["value"]));
  }
  return result;
}

namespace {

Result<LastBody::Sub> last_sub_of(dom::element element) {
  dom::object object;
  if (element.get(object) != simdjson::SUCCESS) {
    return std::unexpected(bad_json("a query must be an object"));
  }
  LastBody::Sub sub;
  sub.metric = fields_of(object)["metric"];
  dom::object tags;
  if (object["tags"].get(tags) == simdjson::SUCCESS) sub.tags = fields_of(tags);
  dom::array tsuids;
  if (object["tsuids"].get(tsuids) == simdjson::SUCCESS) {
    for (const dom::element tsuid : tsuids) sub.tsuids.push_back(element_text(tsuid));
  }
  return sub;
}

}  // namespace

Result<LastBody> parse_last_body(std::string_view body) {
  Document document;
  TRY_VOID(parse_object(body, document));
  std::map<std::string, std::string> fields = fields_of(document.object);
  LastBody result;
  result.resolve = fields["resolveNames"] == "true";
  if (const std::string& hours = fields["backScan"]; !hours.empty()) {
    if (!read_number(hours, result.back_scan)) {
      return std::unexpected(bad_json("backScan must be a whole number, not " + hours));
    }
  }
  dom::array queries;
  if (document.object["queries"].get(queries) != simdjson::SUCCESS) return result;
  for (const dom::element query : queries) {
    TRY(LastBody::Sub sub, last_sub_of(query));
    result.subs.push_back(std::move(sub));
  }
  return result;
}

}  // namespace halite::web
