#include "storage/catalog/names/uid_assigner.h"

#include <limits>
#include <utility>

#include <fmt/format.h>

#include "storage/catalog/names/name_kind.h"

namespace halite::storage {
namespace {

// As many tries for a name as in OpenTSDB.
constexpr int kAttempts = 3;
// Consecutive lost responses to compare-and-puts of one cell.
constexpr int kLostAnswersMax = 10;

// The suffix of the qualifier for an id in quarantine.
constexpr BytesView kFreedEnd = "_freed";

const Bytes& counter_row() {
  static const Bytes kRow(1, '\0');
  return kRow;
}

// The prefix of qualifiers of cells that are not names.
std::string_view kind_word(NameKind kind) {
  return kind == NameKind::kMetric ? "metric" : name_kind_text(kind);
}

// The counter is signed, which limits 8-byte ids.
std::uint64_t largest_uid(unsigned width) {
  if (width >= 8) return std::numeric_limits<std::int64_t>::max();
  return (1ull << (8 * width)) - 1;
}

}  // namespace

std::optional<NameCell> name_cell(BytesView qualifier) {
  const BytesView word = qualifier.substr(0, qualifier.find('_'));
  for (const NameKind kind : {NameKind::kMetric, NameKind::kTagKey, NameKind::kTagValue}) {
    using enum NameCell::Says;
    if (qualifier == name_kind_text(kind)) return NameCell{.kind = kind, .says = kName};
    if (word.size() == qualifier.size() || word != kind_word(kind)) continue;
    const bool freed = qualifier.substr(word.size()) == kFreedEnd;
    return NameCell{.kind = kind, .says = freed ? kFreed : kStays};
  }
  return std::nullopt;
}

Bytes assigned_qualifier(NameKind kind) { return Bytes(kind_word(kind)) + "_assigned"; }

Bytes freed_qualifier(NameKind kind) { return Bytes(kind_word(kind)).append(kFreedEnd); }

UidAssigner::UidAssigner(std::shared_ptr<Table> table, UidWidths widths, NameForm form)
    : table_(std::move(table)), widths_(widths), bytes_(form) {}

unsigned UidAssigner::width(NameKind kind) const {
  switch (kind) {
    case NameKind::kMetric:
      return widths_.metric;
    case NameKind::kTagKey:
      return widths_.tag_key;
    case NameKind::kTagValue:
      return widths_.tag_value;
  }
  std::unreachable();
}

Bytes UidAssigner::encode(NameKind kind, std::uint64_t uid) const {
  Bytes bytes;
  append_be_width(bytes, uid, width(kind));
  return bytes;
}

Result<std::uint64_t> UidAssigner::decode(NameKind kind, BytesView cell) const {
  if (cell.size() != width(kind)) {
    return fail(Errc::kCorruption,
                fmt::format("Found id.length = {} which is != {} required for '{}'", cell.size(),
                            width(kind), name_kind_text(kind)));
  }
  return load_be_width(cell);
}

std::uint64_t UidAssigner::largest(NameKind kind) const { return largest_uid(width(kind)); }

Result<void> UidAssigner::check(NameKind kind, std::uint64_t uid) const {
  if (uid != 0 && uid <= largest(kind)) return {};
  return fail(Errc::kTooLarge,
              fmt::format("All Unique IDs for {} on {} bytes are already assigned!",
                          name_kind_text(kind), width(kind)));
}

Task<std::uint64_t> UidAssigner::reserve(NameKind kind, std::uint64_t count) {
  const Column column{kIdFamily, Bytes(name_kind_text(kind))};
  CO_TRY(const std::int64_t last,
         co_await table_->increment(counter_row(), column, static_cast<std::int64_t>(count)));
  co_return static_cast<std::uint64_t>(last) - count + 1;
}

Task<void> UidAssigner::raise(NameKind kind, std::uint64_t uid) {
  CO_TRY(const std::uint64_t last, co_await last_reserved(kind));
  if (last < uid) CO_TRY_VOID(co_await reserve(kind, uid - last));
  co_return Result<void>();
}

Task<std::uint64_t> UidAssigner::last_reserved(NameKind kind) {
  CO_TRY(const std::optional<Bytes> counter, co_await read(kind, kIdFamily, counter_row()));
  if (!counter) co_return 0;
  if (counter->size() != sizeof(std::uint64_t)) {
    co_return fail(Errc::kCorruption, fmt::format("the counter of {} has {} bytes",
                                                  name_kind_text(kind), counter->size()));
  }
  co_return load_be_width(*counter);
}

Task<void> UidAssigner::give_back(NameKind kind, std::uint64_t end, std::uint64_t count) {
  const Column column{kIdFamily, Bytes(name_kind_text(kind))};
  Bytes now;
  append_be(now, end - 1);
  Bytes before;
  append_be(before, end - 1 - count);
  CO_TRY(const CasOutcome outcome, co_await table_->compare_and_put(
                                       counter_row(), column, std::move(now), std::move(before)));
  static_cast<void>(outcome);  // in any case no assigned id is assigned again
  co_return Result<void>();
}

Task<std::uint64_t> UidAssigner::assign(NameKind kind, std::string name, std::uint64_t reserved) {
  std::uint64_t uid = reserved;
  for (int attempt = 1;; ++attempt) {
    CO_TRY_VOID(check(kind, uid));
    CO_TRY(const bool ours, co_await put_reverse(kind, uid, name));
    if (ours) break;
    // The counter was set back, because no two reservations are equal: skip existing ids.
    if (attempt == kAttempts) {
      co_return fail(Errc::kConflict,
                     fmt::format("Failed to assign ID for kind='{}' name='{}' after {} attempts: "
                                 "ids above the counter are in use already",
                                 name_kind_text(kind), name, attempt));
    }
    CO_TRY(uid, co_await reserve(kind, 1));
  }
  CO_TRY(const std::uint64_t winner, co_await put_forward(kind, std::move(name), uid));
  co_return winner;
}

Task<bool> UidAssigner::put_reverse(NameKind kind, std::uint64_t uid, std::string name) {
  Bytes row = encode(kind, uid);
  const Bytes value = bytes_.of(name);
  CO_TRY(const Bytes holds, co_await put_absent(kind, kNameFamily, std::move(row), value));
  co_return holds == value;
}

Task<std::uint64_t> UidAssigner::put_forward(NameKind kind, std::string name, std::uint64_t uid) {
  Bytes value = encode(kind, uid);
  CO_TRY(const Bytes holds,
         co_await put_absent(kind, kIdFamily, bytes_.of(name), std::move(value)));
  co_return decode(kind, holds);
}

Task<std::optional<Bytes>> UidAssigner::read(NameKind kind, Family family, Bytes row) {
  std::vector<RowRead> reads;
  reads.push_back(RowRead{std::move(row), family, {Bytes(name_kind_text(kind))}});
  CO_TRY(std::vector<Row> rows, co_await table_->read(std::move(reads)));
  if (rows.empty() || rows.front().cells.empty()) co_return std::nullopt;
  co_return std::move(rows.front().cells.front().value);
}

Task<Bytes> UidAssigner::put_absent(NameKind kind, Family family, Bytes row, Bytes value) {
  const Column column{family, Bytes(name_kind_text(kind))};
  for (int attempt = 0; attempt < kLostAnswersMax; ++attempt) {
    CO_TRY(const CasOutcome outcome,
           co_await table_->compare_and_put(row, column, std::nullopt, value));
    if (outcome == CasOutcome::kApplied) co_return value;
    // Refused or lost: read the stored value. If there is none, the lost write was not applied; if
    // it still arrives later, it writes the bytes of the next try.
    CO_TRY(std::optional<Bytes> holds, co_await read(kind, family, row));
    if (holds) co_return std::move(*holds);
  }
  co_return fail(Errc::kUnavailable,
                 fmt::format("the answers to {} writes to the name table were lost, last for "
                             "kind '{}', row {}",
                             kLostAnswersMax, name_kind_text(kind), to_hex(row)));
}

}  // namespace halite::storage
