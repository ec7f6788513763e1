#include "app/tools/import_tool.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "app/bulk/import.h"
#include "app/bulk/loader_sink.h"
#include "app/bulk/opened_data.h"
#include "app/bulk/store_target.h"
#include "app/bulk/url_target.h"
#include "app/server/logging.h"
#include "app/server/wait_for.h"
#include "app/tools/keep_owner.h"
#include "common/log.h"
#include "common/threads/io_threads.h"
#include "ingest/formats/lines.h"

namespace halite::app {
namespace {

constexpr int kLowestPriority = 19;

// Lines become the series that they would become by the server of these settings.
ingest::FormatOptions format_options(const Options& options, const ImportFlags& flags) {
  ingest::FormatOptions made = flags.options;
  made.influx_separator = options.web.influx.influx_separator;
  made.influx_value_field = options.web.influx.influx_value_field;
  return made;
}

// How lines are read: a part of what a checkpoint is for.
std::string line_options(const ImportFlags& flags) {
  return fmt::format(" precision {} columns {}", static_cast<int>(flags.options.influx_precision),
                     fmt::join(flags.options.csv_columns, ","));
}

// As a checkpoint names it.
std::string target_name(const Options& options, const ImportFlags& flags) {
  if (!flags.url.empty()) return flags.url;
  return fmt::format("{} {}{}", store_text(options), flags.hfiles,
                     flags.fill_gaps ? " in gaps" : "");
}

// Why the parser of csv refuses a line.
class CsvRefusal final : public ingest::PointReceiver {
 public:
  void series(const ingest::SeriesKey& /*key*/) override {}
  void point(ingest::PointBits /*point*/) override {}
  void refuse(std::string reason) override { refused = std::move(reason); }

  std::optional<std::string> refused;
};

// What is wrong with the columns of the options.
std::optional<std::string> columns_fault(const ingest::FormatOptions& options) {
  const ingest::PointRules rules({}, "");
  CsvRefusal found;
  ingest::make_parser(ingest::Format::kCsv, options, rules)->line("", found);
  return found.refused;
}

// Why the first line names no columns. Nothing if one of the lines does, or if there is none.
std::optional<std::string> header_fault(std::string_view text) {
  const ingest::PointRules rules({}, "");
  const auto parser = ingest::make_parser(ingest::Format::kCsv, {}, rules);
  std::optional<std::string> fault;
  while (!text.empty()) {
    const std::string_view line = ingest::take_line(text);
    CsvRefusal found;
    parser->line(line, found);
    const bool blank = line.find_first_not_of('\r') == std::string_view::npos;
    if (!found.refused && !blank) return std::nullopt;
    if (!fault) fault = std::move(found.refused);
  }
  return fault;
}

// What an interrupted import left.
Result<std::optional<Checkpoint>> begin_from(const CheckpointFile& file, bool resume) {
  Result<std::optional<Checkpoint>> found = file.read();
  if (resume || (found && !found->has_value())) return found;
  return fail(
      Errc::kConflict,
      fmt::format("{} exists: an import was interrupted; continue it by --resume, remove the file "
                  "to begin again, or give another by --checkpoint",
                  file.path()));
}

class Run {
 public:
  Run(const Options& options, const ImportFlags& flags, const Print& err)
      : options_(options),
        flags_(flags),
        err_(err),
        checkpoints_(flags.checkpoint.empty() ? kCheckpointName : flags.checkpoint, flags.files,
                     target_name(options, flags) + line_options(flags)) {}

  Result<ImportTotals> run();
  // After this error: what to do next; empty if nothing is to be said.
  [[nodiscard]] std::string advice(const Error& why) const;

 private:
  Result<void> check_flags() const;
  Result<ingest::Format> choose_format();
  Result<ingest::Format> named_or_detected();
  Result<ImportTotals> into_store();
  Result<ImportTotals> import_by_store(OpenedData& data);
  Result<ImportTotals> import_by_hfiles(OpenedData& data);
  Result<ImportTotals> into_server();
  Result<ImportTotals> into(ImportTarget& target, const boost::asio::any_io_executor& executor);
  void forget_if_nothing_is_stored() const;
  [[nodiscard]] HeaderRule header_rule() const;
  [[nodiscard]] ingest::ImportFormat format() const {
    return {.format = begin_.format, .options = format_options(options_, flags_)};
  }

  const Options& options_;
  const ImportFlags& flags_;
  const Print& err_;
  const CheckpointFile checkpoints_;
  std::unique_ptr<CheckpointLock> lock_;
  Checkpoint begin_;
  std::unique_ptr<BlockReader> reader_;
  std::unique_ptr<RefusedLines> refused_;
  bool resumes_ = false;
  bool began_ = false;  // a checkpoint that exists is of this import
};

Result<void> Run::check_flags() const {
  if (!flags_.hfiles.empty() && (!flags_.url.empty() || options_.store != StoreKind::kHBase)) {
    return fail(Errc::kInvalidArgument, "--hfiles needs --store hbase");
  }
  if (flags_.format != "auto" && !ingest::format_named(flags_.format)) {
    return fail(Errc::kInvalidArgument,
                fmt::format("--format: \"{}\" is not a format; the formats are auto, {}",
                            flags_.format, ingest::format_names()));
  }
  for (const std::string& file : flags_.files) {
    TRY_VOID(check_distinct({{.flag = "FILE", .path = file}}, checkpoints_.path()));
  }
  return check_distinct({{.flag = "--errors", .path = flags_.errors}}, checkpoints_.path());
}

Result<ImportTotals> Run::run() {
  // A checkpoint that another import left hides nothing that is wrong with the flags and files.
  TRY_VOID(check_flags());
  TRY(reader_, BlockReader::open(flags_.files));
  if (!flags_.resume) {
    TRY(begin_.format, choose_format());
  }
  TRY(lock_, CheckpointLock::take(checkpoints_.path()));
  TRY(const std::optional<Checkpoint> found, begin_from(checkpoints_, flags_.resume));
  if (found) {
    begin_ = *found;
    TRY_VOID(check_errors_flag(checkpoints_.path(), begin_.errors, flags_.errors));
    if (flags_.format != "auto" && ingest::format_named(flags_.format) != begin_.format) {
      return fail(
          Errc::kConflict,
          fmt::format("{}: begun with --format {}; give the same, or remove {} to begin again",
                      checkpoints_.path(), ingest::format_name(begin_.format),
                      checkpoints_.path()));
    }
    TRY(reader_, BlockReader::open(flags_.files, begin_.position, header_rule()));
  } else {
    if (flags_.resume) {
      TRY(begin_.format, choose_format());
    }
    reader_->follow(header_rule());
  }
  begin_.errors = flags_.errors;
  resumes_ = found.has_value();
  TRY(refused_, RefusedLines::open(flags_.errors, errors_kept(found), err_));
  began_ = true;
  TRY(const ImportTotals totals, flags_.url.empty() ? into_store() : into_server());
  TRY_VOID(checkpoints_.remove());
  return totals;
}

HeaderRule Run::header_rule() const {
  return [how = format()](std::string_view header, std::string_view lines) {
    return ingest::header_behind(how.format, how.options, header, lines);
  };
}

std::string Run::advice(const Error& why) const {
  if (!began_ || !std::filesystem::exists(checkpoints_.path())) return {};
  const InputFault fault = reader_->fault(why);
  if (fault == InputFault::kNone) {
    return "the points before the last checkpoint are durable; --resume continues from there";
  }
  const bool damaged = fault == InputFault::kDamaged;
  return fmt::format(
      "the lines before {} are stored; mend the file, remove {}{}{} and import all files again: "
      "points that are stored twice do not change{}",
      damaged ? "the damage" : "the end", checkpoints_.path(), flags_.errors.empty() ? "" : " and ",
      flags_.errors,
      damaged ? ", but a wrong point stays: some lines before the place where the damage was found "
                "may be wrong or missing"
              : "");
}

// All files have the format of the first one.
Result<ingest::Format> Run::choose_format() {
  TRY(const ingest::Format chosen, named_or_detected());
  const std::vector<std::string>& columns = flags_.options.csv_columns;
  if (chosen != ingest::Format::kCsv) {
    if (columns.empty()) return chosen;
    return fail(Errc::kInvalidArgument, fmt::format("--csv-columns is for --format csv, not {}",
                                                    ingest::format_name(chosen)));
  }
  if (!columns.empty()) return chosen;
  TRY(const BlockReader::Peeked peeked, reader_->peek());
  const auto fault = header_fault(peeked.text);
  if (!fault) return chosen;
  return fail(Errc::kInvalidArgument,
              fmt::format("{}: {}; without a header, name the columns by --csv-columns, for "
                          "example metric,time,value,host",
                          peeked.file, *fault));
}

Result<ingest::Format> Run::named_or_detected() {
  if (const auto named = ingest::format_named(flags_.format)) return *named;
  TRY(const BlockReader::Peeked peeked, reader_->peek());
  if (peeked.text.empty()) {  // nothing to read
    return flags_.options.csv_columns.empty() ? ingest::Format::kOpenTsdb : ingest::Format::kCsv;
  }
  if (const auto detected = ingest::detect_format(peeked.text, flags_.options)) return *detected;
  return fail(Errc::kInvalidArgument,
              fmt::format("cannot tell the format of {} from its first lines; choose one by "
                          "--format: {}; with influx also name the unit of times by --precision, "
                          "unless it is ns",
                          peeked.file, ingest::format_names()));
}

Result<ImportTotals> Run::into_store() {
  TRY(const std::unique_ptr<OpenedData> data, OpenedData::open(options_, DataUse::kFill));
  Result<ImportTotals> totals =
      flags_.hfiles.empty() ? import_by_store(*data) : import_by_hfiles(*data);
  const Result<void> closed = data->close();
  if (totals && !closed) return std::unexpected(closed.error());
  return totals;
}

// By the store's ordinary way for points.
Result<ImportTotals> Run::import_by_store(OpenedData& data) {
  storage::PointStore& points = data.stores().points();
  ingest::Writer writer(data.stores().counters().points(), data.clock(), options_.ingest,
                        data.registry());
  StoreTarget target(writer, format(), [&points] { return points.flush(); });
  TRY(const ImportTotals totals, into(target, data.executor()));
  if (has_data_dir(options_.store)) {
    err_("writing the points into their final form");
    TRY_VOID(wait_for(data.executor(), points.seal()));
  }
  return totals;
}

// As files that region servers take over.
Result<ImportTotals> Run::import_by_hfiles(OpenedData& data) {
  constexpr std::size_t kPointsAtOnce = 4 << 20;
  TRY(const auto loader,
      data.stores().make_point_loader({.url = flags_.hfiles, .fill_gaps = flags_.fill_gaps}));
  LoaderSink sink(data.stores().points(), *loader, thread_count(flags_.jobs), kPointsAtOnce);
  ingest::Writer writer(sink, data.clock(), options_.ingest, data.registry());
  StoreTarget target(
      writer, format(), [&sink] { return sink.load(); }, [&sink] { return sink.take_refused(); });
  return into(target, data.executor());
}

Result<ImportTotals> Run::into_server() {
  TRY(Peer peer, make_peer(flags_.url, flags_.peer));
  TRY(const auto target, UrlTarget::open(std::move(peer), format(), options_.ingest));
  // On the server's machine, its threads come first. Where that is not allowed, the rate is the
  // same.
  static_cast<void>(setpriority(PRIO_PROCESS, 0, kLowestPriority));
  IoThreads threads(1, "tool");
  return into(*target, threads.executors().front());
}

Result<ImportTotals> Run::into(ImportTarget& target, const boost::asio::any_io_executor& executor) {
  ImportTimes times;
  times.checkpoint_interval = interval_ms(flags_.checkpoint_interval_s);
  Progress progress(reader_->bytes_total(), flags_.quiet);
  // From here on, --resume knows that the file of --errors is of this import.
  if (!resumes_) TRY_VOID(checkpoints_.write(begin_));
  Result<ImportTotals> totals = import_points({.reader = *reader_,
                                               .target = target,
                                               .refused = *refused_,
                                               .checkpoints = checkpoints_,
                                               .progress = progress,
                                               .executor = executor,
                                               .threads = thread_count(flags_.jobs),
                                               .points_per_s_max = flags_.points_per_s_max,
                                               .before = begin_,
                                               .times = times});
  if (!totals && !resumes_) forget_if_nothing_is_stored();
  return totals;
}

// Then the same command can be given again.
void Run::forget_if_nothing_is_stored() const {
  const Result<std::optional<Checkpoint>> left = checkpoints_.read();
  if (!left || !*left || (*left)->position != begin_.position) return;
  if (file_bytes(flags_.errors) > 0) return;  // the checkpoint says that it is of this import
  static_cast<void>(checkpoints_.remove());
}

}  // namespace

Result<std::vector<std::string>> parse_csv_columns(std::string_view text) {
  const std::string named = fmt::format("\"{}\"", text);
  ingest::FormatOptions options;
  while (true) {
    const std::size_t comma = text.find(',');
    options.csv_columns.emplace_back(text.substr(0, comma));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  if (auto fault = columns_fault(options)) {
    constexpr std::string_view kHeader = "the header";  // of which the parser speaks
    if (fault->starts_with(kHeader)) fault->replace(0, kHeader.size(), named);
    return fail(Errc::kInvalidArgument, *std::move(fault));
  }
  return options.csv_columns;
}

ImportStatus import_files(const Options& options, const ImportFlags& flags, const Print& out,
                          const Print& err) {
  spdlog::set_level(spdlog::level::warn);
  const auto began = std::chrono::steady_clock::now();
  std::optional<KeepOwner> owner;
  if (flags.url.empty() && has_data_dir(options.store)) owner.emplace(options.data_dir);
  Run run(options, flags, err);
  const Result<ImportTotals> totals = run.run();
  const Result<void> given = owner ? owner->give() : Result<void>();
  if (!given) err(given.error().message);
  if (!totals) {
    err(totals.error().message);
    if (const std::string advice = run.advice(totals.error()); !advice.empty()) err(advice);
    return ImportStatus::kFailed;
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  out(fmt::format("{} stored, {} refused, {:.1f} s", counted(totals->points, "point"),
                  counted(totals->refused, "line"), seconds));
  if (!given) return ImportStatus::kFailed;
  return totals->refused == 0 ? ImportStatus::kAll : ImportStatus::kRefused;
}

}  // namespace halite::app
