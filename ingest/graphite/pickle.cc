#include "ingest/graphite/pickle.h"

#include <cmath>
#include <expected>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "ingest/formats/graphite_numbers.h"
#include "ingest/formats/number_text.h"

namespace halite::ingest {
namespace {

using Kind = PickleItem::Kind;

constexpr std::string_view kShape = "an entry is not (path, (time, value))";

std::expected<double, std::string> number_of(const PickleItem& item, std::string_view what) {
  switch (item.kind) {
    case Kind::kInteger:
      return static_cast<double>(item.integer());
    case Kind::kReal:
      return item.real();
    case Kind::kHuge:
      return std::unexpected(std::string(what) + " has more than 128 bits");
    default:
      return std::unexpected(std::string(what) + " is not a number");
  }
}

std::expected<ValueBits, std::string> value_of(const PickleItem& item) {
  if (item.kind == Kind::kText) return read_graphite_value(item.as_text());
  const auto number = number_of(item, "the value");
  if (!number) return std::unexpected(number.error());
  const ValueBits bits = double_bits(*number);
  if (auto wrong = graphite_nan(bits)) return std::unexpected(*std::move(wrong));
  return bits;
}

std::expected<TimestampMs, std::string> time_of(const PickleItem& item,
                                                std::optional<TimestampMs> now) {
  if (item.kind == Kind::kText) return read_graphite_time(item.as_text(), now);
  const auto number = number_of(item, "the time");
  if (!number) return std::unexpected(number.error());
  return graphite_time(*number, now);
}

}  // namespace

PickleBody::PickleBody(std::string_view message, const FormatOptions& options,
                       const IngestLimits& limits, const PickleLimits& pickle_limits)
    : default_time_(options.default_time),
      path_(options.graphite_templates, limits),
      machine_(message, pickle_limits) {}

Result<void> PickleBody::read(PointReceiver& to) {
  TRY(const PickleItem list, machine_.run());
  if (!list.is_sequence()) {
    return fail(Errc::kInvalidArgument, "the pickle is not a list of points");
  }
  std::uint32_t number = 0;
  for (std::uint32_t node = machine_.first(list); node != PickleMachine::kEnd;
       node = machine_.next(node)) {
    to.part(++number);
    if (auto wrong = take(machine_.at(node), to)) to.refuse(*std::move(wrong));
  }
  return {};
}

std::optional<std::string> PickleBody::take(const PickleItem& entry, PointReceiver& to) {
  const auto is_pair = [this](const PickleItem& item) {
    return item.is_sequence() && machine_.size(item) == 2;
  };
  if (!is_pair(entry)) return std::string(kShape);
  const std::uint32_t first = machine_.first(entry);
  const PickleItem& path = machine_.at(first);
  const PickleItem& pair = machine_.at(machine_.next(first));
  if (path.kind != Kind::kText || !is_pair(pair)) return std::string(kShape);
  const std::uint32_t second = machine_.first(pair);
  const auto time = time_of(machine_.at(second), default_time_);
  if (!time) return time.error();
  const auto value = value_of(machine_.at(machine_.next(second)));
  if (!value) return value.error();
  path_bytes_ += path.as_text().size();
  if (path_bytes_ > kPathBytesMax) {
    return fmt::format("the paths of this entry and those before it have more than {} bytes",
                       kPathBytesMax);
  }
  const auto key = path_.key(path.as_text());
  if (!key) return key.error();
  to.series(*key);
  to.point(double_point(*time, *value));
  return std::nullopt;
}

}  // namespace halite::ingest
