#include "storage/table_settings.h"

#include <utility>
#include <vector>

namespace halite::storage {
namespace {

constexpr Family kSettingsFamily = 0;

Column parameters_column() { return Column{kSettingsFamily, "parameters"}; }

}  // namespace

TableSpec settings_table_spec(std::string name) {
  TableSpec spec;
  spec.name = std::move(name);
  spec.families = {FamilySpec{"s", 0}};
  return spec;
}

Task<std::optional<TableParameters>> read_parameters(std::shared_ptr<Table> settings,
                                                     std::string data_table) {
  std::vector<RowRead> reads;
  reads.push_back(RowRead{std::move(data_table), kSettingsFamily, {parameters_column().qualifier}});
  CO_TRY(const std::vector<Row> rows, co_await settings->read(std::move(reads)));
  if (rows.front().cells.empty()) co_return std::nullopt;
  CO_TRY(TableParameters stored, TableParameters::from_bytes(rows.front().cells.front().value));
  co_return stored;
}

Task<void> settle_parameters(std::shared_ptr<Table> settings, std::string data_table,
                             TableParameters configured) {
  CO_TRY(auto stored, co_await read_parameters(settings, data_table));
  if (!stored) {
    // Another process may be opening the new table, too; whoever comes second compares.
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

}  // namespace halite::storage
