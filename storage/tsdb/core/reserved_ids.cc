#include "storage/tsdb/core/reserved_ids.h"

#include <fmt/format.h>

#include "storage/tsdb/core/engine_cell.h"

namespace halite::storage::engine {
namespace {

using Ids = std::array<std::uint64_t, 3>;  // by kind

constexpr BytesView kReservedQualifier = "kept ids";
constexpr BytesView kUnmarkedQualifier = "unmarked ids since";

}  // namespace

Task<Ids> ReservedIds::read() const {
  CO_TRY(const std::optional<Bytes> cell,
         co_await read_engine_cell(settings_, Bytes(kReservedQualifier)));
  Ids ids = {};
  if (!cell) co_return ids;
  if (cell->size() != ids.size() * sizeof(std::uint64_t)) {
    co_return fail(Errc::kCorruption, "the settings table holds invalid kept ids");
  }
  for (std::size_t i = 0; i < ids.size(); ++i) {
    ids[i] = load_be<std::uint64_t>(cell->data() + i * sizeof(std::uint64_t));
  }
  co_return ids;
}

Task<std::optional<TimestampMs>> ReservedIds::unmarked_since() const {
  CO_TRY(const std::optional<Bytes> cell,
         co_await read_engine_cell(settings_, Bytes(kUnmarkedQualifier)));
  if (!cell) co_return std::optional<TimestampMs>();
  if (cell->size() != sizeof(std::uint64_t)) {
    co_return fail(Errc::kCorruption,
                   fmt::format("the settings table holds \"{}\" with {} bytes, expected {}",
                               kUnmarkedQualifier, cell->size(), sizeof(std::uint64_t)));
  }
  co_return static_cast<TimestampMs>(load_be<std::uint64_t>(cell->data()));
}

Task<void> ReservedIds::set_unmarked_since(TimestampMs time) const {
  Bytes bytes;
  append_be<std::uint64_t>(bytes, static_cast<std::uint64_t>(time));
  co_return co_await write_engine_cell(settings_, Bytes(kUnmarkedQualifier), std::move(bytes));
}

Task<void> ReservedIds::write(Ids ids) const {
  Bytes bytes;
  for (const std::uint64_t id : ids) append_be(bytes, id);
  co_return co_await write_engine_cell(settings_, Bytes(kReservedQualifier), std::move(bytes));
}

}  // namespace halite::storage::engine
