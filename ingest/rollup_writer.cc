#include "ingest/rollup_writer.h"

#include <cstddef>
#include <tuple>
#include <utility>

#include "common/check.h"
#include "ingest/auxiliary_writer.h"
#include "ingest/json/rollup_json.h"
#include "ingest/telnet/rollup_line.h"
#include "ingest/writer_impl.h"
#include "storage/cells/rollups/rollup_tables.h"

namespace halite::ingest {
namespace {

class RollupRound final : public AuxiliaryBatch {
 public:
  RollupRound(const RollupRules& rules, storage::RollupTables* tables, std::size_t depth_max)
      : rules_(rules), tables_(tables), depth_max_(depth_max) {}

  Result<void> add_element(std::string_view element, std::uint32_t origin) override {
    TRY(SentRollupPoint sent, read_sent_rollup(element, depth_max_));
    take(validate_sent_rollup(sent, rules_), origin);
    return {};
  }

  void add_line(std::string_view line, std::uint32_t origin) override {
    take(parse_rollup_line(line, rules_), origin);
  }

  [[nodiscard]] std::string echo(std::string_view element) const override {
    auto sent = read_sent_rollup(element, depth_max_);
    if (!sent) return "null";
    std::ignore = validate_sent_rollup(*sent, rules_);  // adds the aggregate's tag
    return echo_sent_rollup(*sent);
  }

  Task<std::vector<storage::Refusal>> write(
      std::vector<std::optional<storage::SeriesId>> ids) override {
    HALITE_CHECK(tables_ != nullptr, "no rollup is legal where there are none");
    std::vector<storage::RollupWrite> points;
    std::vector<std::size_t> places;  // index of each among all
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (!ids[i]) continue;
      points_[i].series = *ids[i];
      points.push_back(points_[i]);
      places.push_back(i);
    }
    auto writing = tables_->write(std::move(points));
    CO_TRY(std::vector<storage::Refusal> refusals, co_await std::move(writing));
    for (storage::Refusal& refusal : refusals) refusal.index = places[refusal.index];
    co_return refusals;
  }

 private:
  void take(std::expected<NamedRollup, Refused> point, std::uint32_t origin) {
    if (!point) {
      refuse(std::move(point).error(), origin);
      return;
    }
    points_.push_back({.series = 0,
                       .table = point->table,
                       .pre_aggregated = point->pre_aggregated,
                       .aggregator = point->aggregator,
                       .time_s = point->time_s,
                       .value = point->value,
                       .flags = point->flags});
    named(std::move(point->series), origin);
  }

  const RollupRules& rules_;
  storage::RollupTables* const tables_;
  const std::size_t depth_max_;
  std::vector<storage::RollupWrite> points_;  // of each named element, without series
};

}  // namespace

struct RollupWriter::Impl {
  Impl(WriterContext& writer_context, storage::RollupTables* rollups, RollupOptions options)
      : context(writer_context),
        tables(rollups),
        rules(context.rules, rollups == nullptr ? nullptr : &rollups->config(), std::move(options)),
        side(context) {}

  [[nodiscard]] std::unique_ptr<AuxiliaryBatch> round() const {
    return std::make_unique<RollupRound>(rules, tables, context.options.limits.json_depth_max);
  }

  WriterContext& context;
  storage::RollupTables* tables;
  RollupRules rules;
  AuxiliaryWriter side;
};

RollupWriter::RollupWriter(Writer& writer, storage::RollupTables* tables, RollupOptions options)
    : impl_(std::make_unique<Impl>(writer.impl_->context, tables, std::move(options))) {}

RollupWriter::~RollupWriter() = default;

Task<PutOutcome> RollupWriter::put_json(std::string body, PutOptions put_options) {
  return impl_->side.put_json(impl_->round(), std::move(body), put_options);
}

Task<void> RollupWriter::put_lines(std::vector<std::string> lines, std::string* replies) {
  return impl_->side.put_lines(impl_->round(), std::move(lines), "rollup", replies);
}

}  // namespace halite::ingest
