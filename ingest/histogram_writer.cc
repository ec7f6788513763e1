#include "ingest/histogram_writer.h"

#include <cstddef>
#include <utility>

#include "ingest/auxiliary_writer.h"
#include "ingest/json/histogram_json.h"
#include "ingest/telnet/histogram_line.h"
#include "ingest/writer_impl.h"
#include "storage/cells/rollups/histogram_cells.h"

namespace halite::ingest {
namespace {

class HistogramRound final : public AuxiliaryBatch {
 public:
  HistogramRound(const HistogramRules& rules, storage::HistogramCells& cells, std::size_t depth_max)
      : rules_(rules), cells_(cells), depth_max_(depth_max) {}

  Result<void> add_element(std::string_view element, std::uint32_t origin) override {
    TRY(SentHistogramPoint sent, read_sent_histogram(element, depth_max_));
    take(validate_sent_histogram(std::move(sent), rules_), origin);
    return {};
  }

  void add_line(std::string_view line, std::uint32_t origin) override {
    take(parse_histogram_line(line, rules_), origin);
  }

  [[nodiscard]] std::string echo(std::string_view element) const override {
    const auto sent = read_sent_histogram(element, depth_max_);
    return sent ? echo_sent_histogram(*sent) : "null";
  }

  Task<std::vector<storage::Refusal>> write(
      std::vector<std::optional<storage::SeriesId>> ids) override {
    std::vector<storage::HistogramWrite> histograms;
    std::vector<std::size_t> places;  // index of each among all
    for (std::size_t i = 0; i < ids.size(); ++i) {
      if (!ids[i]) continue;
      histograms_[i].series = *ids[i];
      histograms.push_back(std::move(histograms_[i]));
      places.push_back(i);
    }
    auto writing = cells_.write(std::move(histograms));
    CO_TRY(std::vector<storage::Refusal> refusals, co_await std::move(writing));
    for (storage::Refusal& refusal : refusals) refusal.index = places[refusal.index];
    co_return refusals;
  }

  [[nodiscard]] Refused on_telnet(Refused why) const override {
    why.reason = RefusalReason::kStorage;
    return why;
  }

 private:
  void take(std::expected<NamedHistogram, Refused> histogram, std::uint32_t origin) {
    if (!histogram) {
      refuse(std::move(histogram).error(), origin);
      return;
    }
    histograms_.push_back({.series = 0,
                           .time = histogram->time,
                           .millis = histogram->millis,
                           .value = std::move(histogram->value)});
    named(std::move(histogram->series), origin);
  }

  const HistogramRules& rules_;
  storage::HistogramCells& cells_;
  const std::size_t depth_max_;
  std::vector<storage::HistogramWrite> histograms_;  // of each named element, without series
};

}  // namespace

struct HistogramWriter::Impl {
  Impl(WriterContext& writer_context, storage::HistogramCells& histograms)
      : context(writer_context),
        cells(histograms),
        rules(context.rules, histograms.config()),
        side(context) {}

  [[nodiscard]] std::unique_ptr<AuxiliaryBatch> round() const {
    return std::make_unique<HistogramRound>(rules, cells, context.options.limits.json_depth_max);
  }

  WriterContext& context;
  storage::HistogramCells& cells;
  HistogramRules rules;
  AuxiliaryWriter side;
};

HistogramWriter::HistogramWriter(Writer& writer, storage::HistogramCells& cells)
    : impl_(std::make_unique<Impl>(writer.impl_->context, cells)) {}

HistogramWriter::~HistogramWriter() = default;

Task<PutOutcome> HistogramWriter::put_json(std::string body, PutOptions put_options) {
  return impl_->side.put_json(impl_->round(), std::move(body), put_options);
}

Task<void> HistogramWriter::put_lines(std::vector<std::string> lines, std::string* replies) {
  return impl_->side.put_lines(impl_->round(), std::move(lines), "histogram", replies);
}

}  // namespace halite::ingest
