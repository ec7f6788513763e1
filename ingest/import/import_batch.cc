#include "ingest/import/import_batch.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include "ingest/bodies/received_points.h"
#include "ingest/formats/lines.h"
#include "ingest/formats/names.h"
#include "ingest/telnet/line_round.h"
#include "ingest/writer_impl.h"

namespace halite::ingest {
namespace {

constexpr std::size_t kNoLimit = SIZE_MAX;  // the reader of the file has limited lines and blocks
constexpr std::size_t kLineBytesExpected = 64;
constexpr std::string_view kPut = "put ";

}  // namespace

class ImportBatch::Impl {
 public:
  explicit Impl(WriterContext& context) : context_(context) {}
  virtual ~Impl() = default;

  virtual std::uint32_t add(const ImportText& text) = 0;

  struct Parsed {
    IngestBatch points;
    std::vector<BatchRefusal> refused;  // by line
  };
  // Nothing if nothing was added. Releases what the batch holds of the series cache.
  virtual std::optional<Parsed> take() = 0;

  [[nodiscard]] WriterContext& context() const { return context_; }

 private:
  WriterContext& context_;
};

// OpenTSDB's lines, as they come by telnet.
class ImportBatch::OpentsdbLines final : public Impl {
 public:
  using Impl::Impl;

  std::uint32_t add(const ImportText& text) override {
    std::string_view lines = text.lines;
    with_command_ = lines.starts_with(kPut);
    LineRound& round = round_.emplace(context(), with_command_ ? kPutCommand : "",
                                      lines.size() / kLineBytesExpected);
    while (true) {
      lines.remove_prefix(round.add_fast_path(lines, kNoLimit, kNoLimit).bytes);
      if (lines.empty()) break;
      add_line(take_line(lines));
    }
    round.resolve();
    return round.lines();
  }

  std::optional<Parsed> take() override {
    if (!round_) return std::nullopt;
    std::vector<BatchRefusal> refused = round_->take_refused();
    for (BatchRefusal& refusal : refused) refusal.why.text = plain_refusal(refusal.why);
    Parsed parsed{.points = round_->take_batch(), .refused = std::move(refused)};
    round_.reset();
    return parsed;
  }

 private:
  void add_line(std::string_view line) {
    const std::string_view text = without_return(line);
    const std::size_t blanks = text.find_first_not_of(' ');
    if (blanks == std::string_view::npos || text.front() == '#') return round_->skip();
    // Files that mix both forms are rare: these lines take the general parser.
    if (line.starts_with(kPut) == with_command_) return round_->add(line);
    round_->add_completely(line, with_command_ ? "" : kPutCommand);
  }

  bool with_command_ = false;  // lines begin with "put"
  std::optional<LineRound> round_;
};

class ImportBatch::FormatLines final : public Impl {
 public:
  FormatLines(WriterContext& context, const ImportFormat& format)
      : Impl(context), parser_(make_parser(format.format, format.options, context.rules)) {}

  std::uint32_t add(const ImportText& text) override {
    const auto name = [this](const SeriesKey& key) { return parser_->series_name(key); };
    ReceivedPoints& received = received_.emplace(context(), name,
                                                 ReceivedLimits{.items_max = kNoLimit,
                                                                .every_reason = true,
                                                                .refusals_kept_max = kNoLimit,
                                                                .new_series_bytes_max = kNoLimit,
                                                                .families_max = 0});
    if (!text.header.empty()) parser_->begin_behind(text.header);
    std::uint32_t line = 0;
    for (std::string_view lines = text.lines; !lines.empty();) {
      received.part(++line);
      parser_->line(take_line(lines), received);
    }
    if (text.ends) parser_->end(received);
    return line;
  }

  std::optional<Parsed> take() override {
    if (!received_) return std::nullopt;
    ReceivedPoints::Parsed received = received_->take();
    received_.reset();
    return Parsed{.points = std::move(received.points), .refused = std::move(received.refused)};
  }

 private:
  const std::unique_ptr<PointParser> parser_;
  std::optional<ReceivedPoints> received_;
};

class ImportBatch::NamedPoints final : public Impl {
 public:
  using Impl::Impl;

  std::uint32_t add(const ImportText& /*text*/) override { return 0; }

  void add_points(const std::vector<SeriesPoints>& series) {
    points_.emplace(context().store.pin_series());
    std::optional reader = context().cache.reader(points_->pin());
    NamesKey names;
    for (std::uint32_t number = 1; const SeriesPoints& one : series) {
      names.set(one.series);
      const SeriesKey key = names.key();
      const std::uint64_t hash = context().cache.hash(key);
      if (const auto id = reader->find_in_order(key, hash)) {
        for (const PointBits& point : one.points) points_->add(*id, point, number);
      } else if (!one.points.empty()) {
        auto waiting = points_->find_waiting(key, hash);
        if (!waiting) waiting = points_->add_waiting(key, hash, one.series);
        for (const PointBits& point : one.points) points_->add(*waiting, point, number);
      }
      ++number;
    }
  }

  std::optional<Parsed> take() override {
    if (!points_) return std::nullopt;
    Parsed parsed{.points = *std::move(points_), .refused = {}};
    points_.reset();
    return parsed;
  }

 private:
  std::optional<IngestBatch> points_;
};

ImportBatch::ImportBatch(Writer& writer, const ImportFormat& format) {
  WriterContext& context = writer.impl_->context;
  if (format.format == Format::kOpenTsdb) {
    impl_ = std::make_unique<OpentsdbLines>(context);
  } else {
    impl_ = std::make_unique<FormatLines>(context, format);
  }
}

ImportBatch::~ImportBatch() = default;
ImportBatch::ImportBatch(ImportBatch&&) noexcept = default;

std::uint32_t ImportBatch::add(const ImportText& text) { return impl_->add(text); }

void ImportBatch::add(const std::vector<SeriesPoints>& points) {
  auto named = std::make_unique<NamedPoints>(impl_->context());
  named->add_points(points);
  impl_ = std::move(named);
}

Task<Imported> ImportBatch::commit() {
  Imported imported;
  std::optional<Impl::Parsed> parsed = impl_->take();
  if (!parsed) co_return imported;
  CO_TRY(CommitResult committed,
         co_await impl_->context().commit(std::move(parsed->points), Protocol::kTelnet));
  if (committed.failed) co_return std::unexpected(*std::move(committed.failed));
  std::vector<BatchRefusal> refused = std::move(parsed->refused);
  std::ranges::move(committed.refused, std::back_inserter(refused));
  std::ranges::sort(refused, [](const BatchRefusal& one, const BatchRefusal& other) {
    return std::tie(one.origin, one.why.text) < std::tie(other.origin, other.why.text);
  });
  imported.points = committed.taken;
  imported.durable = std::move(committed.durable);
  for (BatchRefusal& refusal : refused) {
    // All points of a line may have one reason.
    if (!imported.refused.empty() && imported.refused.back().line == refusal.origin &&
        imported.refused.back().reason == refusal.why.text) {
      ++imported.refused.back().points;
      continue;
    }
    imported.refused.push_back({.line = refusal.origin,
                                .reason = std::move(refusal.why.text),
                                .passes = refusal.why.passes});
  }
  co_return imported;
}

}  // namespace halite::ingest
