#include "storage/backends/shared/wide_column_rules.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "common/bytes/ascii.h"

namespace halite::storage {

Result<void> check_row_key(BytesView row) {
  if (row.empty()) return fail(Errc::kInvalidArgument, "empty row key");
  if (row.size() > kRowKeyBytesMax) {
    return fail(Errc::kInvalidArgument,
                fmt::format("row key of {} bytes; the maximum is {}", row.size(), kRowKeyBytesMax));
  }
  return {};
}

Result<void> check_family(Family family, std::size_t families) {
  if (family < families) return {};
  return fail(Errc::kInvalidArgument,
              fmt::format("family {} of a table that has {} families", family, families));
}

namespace {

bool is_plain_name(std::string_view name) {
  return !name.empty() && std::ranges::all_of(name, [](char c) {
    return is_letter_or_digit(c) || c == '-' || c == '_';
  });
}

// As in HBase: letters, digits, '_', '-' and '.', but neither '-' nor '.' first. A namespace of
// letters, digits and '_', and a colon may precede it.
bool is_table_name(std::string_view name) {
  if (const std::size_t colon = name.find(':'); colon != std::string_view::npos) {
    const std::string_view space = name.substr(0, colon);
    if (!is_plain_name(space) || space.contains('-')) return false;
    name.remove_prefix(colon + 1);
  }
  if (name.starts_with('.') || name.starts_with('-')) return false;
  std::string undotted(name);
  std::erase(undotted, '.');
  return is_plain_name(undotted);
}

std::string family_names(const std::vector<FamilySpec>& families) {
  std::string names;
  for (const FamilySpec& family : families) {
    if (!names.empty()) names += ", ";
    names += family.name;
  }
  return names;
}

}  // namespace

Result<void> check_table_spec(const TableSpec& spec) {
  if (!is_table_name(spec.name)) {
    return fail(Errc::kInvalidArgument,
                fmt::format("table name \"{}\": letters, digits, '_', '-' and '.' only, no '-' or "
                            "'.' first; \"namespace:table\" where it has a namespace",
                            spec.name));
  }
  if (spec.families.empty() || spec.families.size() > kFamiliesMax) {
    return fail(Errc::kInvalidArgument,
                fmt::format("table {} with {} families, 1 to {} are allowed", spec.name,
                            spec.families.size(), kFamiliesMax));
  }
  for (auto it = spec.families.begin(); it != spec.families.end(); ++it) {
    if (!is_plain_name(it->name)) {
      return fail(Errc::kInvalidArgument,
                  fmt::format("family name \"{}\" of table {}: letters, digits, '-' and '_' only",
                              it->name, spec.name));
    }
    const auto same_name = [it](const FamilySpec& other) { return other.name == it->name; };
    if (std::any_of(spec.families.begin(), it, same_name)) {
      return fail(Errc::kInvalidArgument,
                  fmt::format("family {} of table {} is listed twice", it->name, spec.name));
    }
    if (it->ttl_ms < 0) {
      return fail(Errc::kInvalidArgument, fmt::format("family {} of table {}: TTL of {} ms",
                                                      it->name, spec.name, it->ttl_ms));
    }
  }
  return {};
}

Result<void> check_same_families(const std::vector<FamilySpec>& found, const TableSpec& spec) {
  if (std::ranges::equal(found, spec.families, {}, &FamilySpec::name, &FamilySpec::name)) return {};
  return fail(Errc::kConflict, fmt::format("table {} has the families {}; asked for {}", spec.name,
                                           family_names(found), family_names(spec.families)));
}

Result<void> check_writes(const std::vector<RowWrite>& rows, std::size_t families) {
  for (const RowWrite& row : rows) {
    TRY_VOID(check_row_key(row.row));
    for (const CellWrite& put : row.puts) {
      TRY_VOID(check_family(put.column.family, families));
      if (put.time < 0) {
        return fail(Errc::kInvalidArgument, fmt::format("cell time {} ms is below 0", put.time));
      }
    }
    for (const Column& column : row.deletes) TRY_VOID(check_family(column.family, families));
  }
  return {};
}

Result<void> check_adds(const std::vector<CounterAdd>& adds, std::size_t families) {
  for (const CounterAdd& add : adds) {
    TRY_VOID(check_row_key(add.row));
    for (const CounterAdd::Delta& one : add.deltas) {
      TRY_VOID(check_family(one.column.family, families));
    }
    if (add.once) TRY_VOID(check_family(add.once->family, families));
  }
  return {};
}

std::expected<std::int64_t, AddOutcome> counter_sum(std::optional<BytesView> current,
                                                    std::int64_t delta) {
  if (!current) return delta;
  if (current->size() != sizeof delta) return std::unexpected(AddOutcome::kNoCounter);
  std::int64_t sum = 0;
  const auto before = static_cast<std::int64_t>(load_be<std::uint64_t>(current->data()));
  if (__builtin_add_overflow(before, delta, &sum)) return std::unexpected(AddOutcome::kOverflow);
  return sum;
}

Result<void> check_reads(const std::vector<RowRead>& reads, std::size_t families) {
  for (const RowRead& read : reads) {
    TRY_VOID(check_row_key(read.row));
    TRY_VOID(check_family(read.family, families));
  }
  return {};
}

Result<void> check_scan(const ScanSpec& spec, std::size_t families) {
  TRY_VOID(check_family(spec.family, families));
  const KeyRange* before = nullptr;
  for (const KeyRange& range : spec.ranges) {
    if (!range.begin.empty()) TRY_VOID(check_row_key(range.begin));
    if (!range.end.empty()) TRY_VOID(check_row_key(range.end));
    if (is_empty(range)) continue;
    if (before != nullptr && (before->end.empty() || before->end > range.begin)) {
      return fail(Errc::kInvalidArgument,
                  fmt::format("scan range from {}, but the one before it ends at {}",
                              to_hex(range.begin), to_hex(before->end)));
    }
    before = &range;
  }
  return {};
}

Result<void> check_scan_limit(ScanLimit limit) {
  if (limit.rows_max > 0 && limit.cells_max > 0) return {};
  return fail(Errc::kInvalidArgument,
              fmt::format("scan limit of {} rows and {} cells: the minimum is 1", limit.rows_max,
                          limit.cells_max));
}

}  // namespace halite::storage
