#include "storage/cells/layouts/table_parameters.h"

#include <limits>
#include <optional>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "common/json/json_value.h"

namespace halite::storage {
namespace {

constexpr std::int64_t kFormat = 1;

// A whole number in [0, max]; nullopt otherwise.
std::optional<std::int64_t> number(const boost::json::value* value, std::int64_t max) {
  if (value == nullptr || !value->is_int64()) return std::nullopt;
  const std::int64_t found = value->get_int64();
  if (found < 0 || found > max) return std::nullopt;
  return found;
}

std::optional<UidWidths> widths_of(const boost::json::value* value) {
  if (value == nullptr || !value->is_array() || value->get_array().size() != 3) return std::nullopt;
  const boost::json::array& array = value->get_array();
  const auto metric = number(&array[0], 8);
  const auto tag_key = number(&array[1], 8);
  const auto tag_value = number(&array[2], 8);
  if (!metric || !tag_key || !tag_value) return std::nullopt;
  return UidWidths{static_cast<std::uint8_t>(*metric), static_cast<std::uint8_t>(*tag_key),
                   static_cast<std::uint8_t>(*tag_value)};
}

template <class T>
Result<void> same(std::string_view setting, const T& stored, const T& configured) {
  if (stored == configured) return {};
  return fail(Errc::kInvalidArgument,
              fmt::format("the table was created with {} = {} and cannot be opened with {}",
                          setting, stored, configured));
}

}  // namespace

Bytes TableParameters::to_bytes() const {
  const boost::json::object object = {
      {"format", kFormat},
      {"layout", layout},
      {"uid_widths", {widths.metric, widths.tag_key, widths.tag_value}},
      {"salt_width", salt_width},
      {"salt_buckets", std::int64_t{salt_buckets}},
      {"span_ms", span_ms},
      {"slots", std::int64_t{slots}},
  };
  return boost::json::serialize(object);
}

Result<TableParameters> TableParameters::from_bytes(BytesView bytes) {
  const auto corrupt = [&bytes](std::string_view what) {
    return fail(Errc::kCorruption, fmt::format("table parameters: {}: {}", what, bytes));
  };
  boost::system::error_code error;
  const boost::json::value parsed = parse_json_value(bytes, error);
  if (error || !parsed.is_object()) return corrupt("not a JSON object");
  const boost::json::object& object = parsed.get_object();
  constexpr std::int64_t kAny = std::numeric_limits<std::int64_t>::max();

  const auto format = number(object.if_contains("format"), kAny);
  if (!format) return corrupt("no format");
  if (*format != kFormat) {
    return fail(Errc::kUnsupported,
                fmt::format("the table parameters have format {}; this version reads format {}",
                            *format, kFormat));
  }
  const boost::json::value* layout = object.if_contains("layout");
  const auto widths = widths_of(object.if_contains("uid_widths"));
  const auto salt_width = number(object.if_contains("salt_width"), 8);
  const auto buckets =
      number(object.if_contains("salt_buckets"), std::numeric_limits<std::uint32_t>::max());
  const auto span_ms = number(object.if_contains("span_ms"), kAny);
  const auto slots = number(object.if_contains("slots"), std::numeric_limits<std::uint32_t>::max());
  if (layout == nullptr || !layout->is_string() || !widths || !salt_width || !buckets || !span_ms ||
      !slots) {
    return corrupt("a field is missing or out of range");
  }
  TableParameters parameters;
  parameters.layout = std::string(layout->get_string());
  parameters.widths = *widths;
  parameters.salt_width = static_cast<std::uint8_t>(*salt_width);
  parameters.salt_buckets = static_cast<std::uint32_t>(*buckets);
  parameters.span_ms = *span_ms;
  parameters.slots = static_cast<std::uint32_t>(*slots);
  return parameters;
}

Result<void> check_same_table(const TableParameters& stored, const TableParameters& configured) {
  const UidWidths& widths = stored.widths;
  TRY_VOID(same("storage.layout", stored.layout, configured.layout));
  TRY_VOID(same("storage.uid_width_metric", widths.metric, configured.widths.metric));
  TRY_VOID(same("storage.uid_width_tag_key", widths.tag_key, configured.widths.tag_key));
  TRY_VOID(same("storage.uid_width_tag_value", widths.tag_value, configured.widths.tag_value));
  TRY_VOID(same("storage.salt_width", stored.salt_width, configured.salt_width));
  TRY_VOID(same("storage.salt_buckets", stored.salt_buckets, configured.salt_buckets));
  TRY_VOID(same("storage.slot_ms", stored.span_ms, configured.span_ms));
  return same("storage.slots", stored.slots, configured.slots);
}

}  // namespace halite::storage
