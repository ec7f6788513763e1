#include "app/bulk/walk_checkpoint.h"

#include <string_view>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "common/json/json_value.h"
#include "storage/files/posix_files.h"

namespace halite::app {
namespace {

constexpr std::uint64_t kStateBytesMax = 1 << 20;

// Nothing if a member is missing or of another type.
std::optional<WalkState> parse_state(const boost::json::value& value) {
  if (!value.is_object()) return std::nullopt;
  const boost::json::object& object = value.get_object();
  const auto text = [&object](std::string_view name) -> const boost::json::string* {
    const boost::json::value* const member = object.if_contains(name);
    return member == nullptr ? nullptr : member->if_string();
  };
  const auto count = [&object](std::string_view name) -> const std::int64_t* {
    const boost::json::value* const member = object.if_contains(name);
    const std::int64_t* const number = member == nullptr ? nullptr : member->if_int64();
    return number != nullptr && *number >= 0 ? number : nullptr;
  };
  const auto* const task = text("task");
  const auto* const metric = text("metric");
  const auto* const format = count("format");
  const auto* const began = count("began");
  const auto* const time = count("time");
  const auto* const points = count("points");
  const auto* const refused = count("refused");
  const auto* const output_bytes = count("output_bytes");
  const auto* const errors_bytes = count("errors_bytes");
  const auto* const errors = text("errors");  // an older version wrote none
  if (task == nullptr || metric == nullptr || format == nullptr || *format != 1 ||
      began == nullptr || time == nullptr || points == nullptr || refused == nullptr ||
      output_bytes == nullptr || errors_bytes == nullptr) {
    return std::nullopt;
  }
  return WalkState{
      .task = std::string(*task),
      .began = *began,
      .position = {.metric = std::string(*metric), .time = *time},
      .totals = {.points = static_cast<std::uint64_t>(*points),
                 .refused = static_cast<std::uint64_t>(*refused)},
      .output_bytes = static_cast<std::uint64_t>(*output_bytes),
      .errors_bytes = static_cast<std::uint64_t>(*errors_bytes),
      .errors = errors == nullptr ? std::nullopt : std::optional(std::string(*errors))};
}

}  // namespace

Result<std::optional<WalkState>> begin_walk(const std::string& path, const std::string& task,
                                            bool resume) {
  if (path.empty()) return std::nullopt;
  const auto files = storage::posix_files();
  TRY(const storage::FileKind kind, files->kind(path));
  if (kind == storage::FileKind::kNone) return std::nullopt;
  if (!resume) {
    return fail(Errc::kConflict, fmt::format("{} exists: this was interrupted before; continue it "
                                             "by --resume, or remove the file to begin again",
                                             path));
  }
  TRY(const Bytes text, storage::read_whole(*files, path, kStateBytesMax));
  boost::system::error_code error;
  const boost::json::value value = parse_json_value(text, error);
  const std::optional<WalkState> state = error ? std::nullopt : parse_state(value);
  if (!state) {
    return fail(Errc::kCorruption,
                fmt::format("{} is not a checkpoint; remove it to begin again", path));
  }
  if (state->task != task) {
    return fail(Errc::kConflict,
                fmt::format("{} is of another task: \"{}\", not \"{}\"; give the same options, or "
                            "remove the file to begin again",
                            path, state->task, task));
  }
  return state;
}

Result<void> write_walk_state(const std::string& path, const WalkState& state) {
  boost::json::value value = {{"format", 1},
                              {"task", state.task},
                              {"began", state.began},
                              {"metric", state.position.metric},
                              {"time", state.position.time},
                              {"points", state.totals.points},
                              {"refused", state.totals.refused},
                              {"output_bytes", state.output_bytes},
                              {"errors_bytes", state.errors_bytes}};
  if (state.errors) value.as_object()["errors"] = *state.errors;
  return storage::write_whole(*storage::posix_files(), path, boost::json::serialize(value) + "\n");
}

}  // namespace halite::app
