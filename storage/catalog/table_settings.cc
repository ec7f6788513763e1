#include "storage/catalog/table_settings.h"

#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace halite::storage {
namespace {

constexpr Family kSettingsFamily = 0;

Column parameters_column() { return Column{kSettingsFamily, "parameters"}; }
Column name_form_column() { return Column{kSettingsFamily, "name-form"}; }

constexpr std::string_view kOpentsdbNames = "opentsdb";
constexpr std::string_view kMixedNames = "mixed";

Task<std::optional<Bytes>> read_setting(std::shared_ptr<Table> settings, std::string row,
                                        Bytes qualifier) {
  std::vector<RowRead> reads;
  reads.push_back(RowRead{std::move(row), kSettingsFamily, {std::move(qualifier)}});
  CO_TRY(std::vector<Row> rows, co_await settings->read(std::move(reads)));
  if (rows.front().cells.empty()) co_return std::nullopt;
  co_return std::move(rows.front().cells.front().value);
}

// Whether any data table has parameters. They do not name the name table that it uses.
Task<bool> has_parameters(std::shared_ptr<Table> settings) {
  ScanSpec spec;
  spec.family = kSettingsFamily;
  spec.qualifier_begin = parameters_column().qualifier;
  spec.qualifier_end = spec.qualifier_begin + '\0';
  spec.keys_only = true;
  const std::unique_ptr<Scanner> scanner = settings->scan(std::move(spec), {});
  ScanLimit limit;
  limit.rows_max = 1;
  CO_TRY(const std::vector<Row> rows, co_await scanner->next(limit));
  co_return !rows.empty();
}

}  // namespace

TableSpec settings_table_spec(std::string name) {
  TableSpec spec;
  spec.name = std::move(name);
  spec.families = {FamilySpec{"s", 0}};
  return spec;
}

Task<std::optional<TableParameters>> read_parameters(std::shared_ptr<Table> settings,
                                                     std::string data_table) {
  CO_TRY(const std::optional<Bytes> cell,
         co_await read_setting(settings, data_table, parameters_column().qualifier));
  if (!cell) co_return std::nullopt;
  CO_TRY(TableParameters stored, TableParameters::from_bytes(*cell));
  co_return stored;
}

Task<void> write_or_compare_parameters(std::shared_ptr<Table> settings, std::string data_table,
                                       TableParameters configured) {
  CO_TRY(auto stored, co_await read_parameters(settings, data_table));
  if (!stored) {
    // Another process may open the new table, too; the second one compares.
    CO_TRY(const CasOutcome outcome,
           co_await settings->compare_and_put(data_table, parameters_column(), std::nullopt,
                                              configured.to_bytes()));
    if (outcome == CasOutcome::kApplied) co_return Result<void>();
    CO_TRY(stored, co_await read_parameters(settings, data_table));
    if (!stored) {
      co_return fail(Errc::kUnavailable,
                     "the parameters of table " + data_table + " could not be written");
    }
  }
  co_return check_same_table(*stored, configured);
}

Task<NameForm> choose_name_form(std::shared_ptr<Table> settings, std::string uid_table) {
  const Bytes qualifier = name_form_column().qualifier;
  CO_TRY(std::optional<Bytes> form, co_await read_setting(settings, uid_table, qualifier));
  if (!form) {
    CO_TRY(const bool used, co_await has_parameters(settings));
    const Bytes chosen(used ? kMixedNames : kOpentsdbNames);
    // Another process may open it, too; the first one decides.
    CO_TRY(const CasOutcome outcome,
           co_await settings->compare_and_put(uid_table, name_form_column(), std::nullopt, chosen));
    static_cast<void>(outcome);  // the stored value decides
    CO_TRY(form, co_await read_setting(settings, uid_table, qualifier));
    if (!form) {
      co_return fail(Errc::kUnavailable,
                     "the form of names in table " + uid_table + " could not be written");
    }
  }
  if (*form == kOpentsdbNames) co_return NameForm::kOpentsdb;
  if (*form == kMixedNames) co_return NameForm::kMixed;
  co_return fail(Errc::kUnsupported,
                 fmt::format("names of table {} have the form \"{}\"; this version reads {} and {}",
                             uid_table, *form, kOpentsdbNames, kMixedNames));
}

}  // namespace halite::storage
