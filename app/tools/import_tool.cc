#include "app/tools/import_tool.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>
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

 private:
  Result<ingest::Format> choose_format();
  Result<ImportTotals> into_store();
  Result<ImportTotals> import_by_store(OpenedData& data);
  Result<ImportTotals> import_by_hfiles(OpenedData& data);
  Result<ImportTotals> into_server();
  Result<ImportTotals> into(ImportTarget& target, const boost::asio::any_io_executor& executor);
  [[nodiscard]] ingest::ImportFormat format() const {
    return {.format = begin_.format, .options = format_options(options_, flags_)};
  }

  const Options& options_;
  const ImportFlags& flags_;
  const Print& err_;
  const CheckpointFile checkpoints_;
  Checkpoint begin_;
  std::unique_ptr<BlockReader> reader_;
  std::unique_ptr<RefusedLines> refused_;
};

Result<ImportTotals> Run::run() {
  if (!flags_.hfiles.empty() && (!flags_.url.empty() || options_.store != StoreKind::kHBase)) {
    return fail(Errc::kInvalidArgument, "--hfiles needs --store hbase");
  }
  TRY(const std::optional<Checkpoint> found, begin_from(checkpoints_, flags_.resume));
  begin_ = found.value_or(Checkpoint());
  TRY(reader_, BlockReader::open(flags_.files, begin_.position));
  if (!found) {
    TRY(begin_.format, choose_format());
  }
  const auto keep = found ? std::optional(begin_.errors_bytes) : std::nullopt;
  TRY(refused_, RefusedLines::open(flags_.errors, keep, err_));
  TRY(const ImportTotals totals, flags_.url.empty() ? into_store() : into_server());
  TRY_VOID(checkpoints_.remove());
  return totals;
}

// All files have the format of the first one.
Result<ingest::Format> Run::choose_format() {
  if (flags_.format != "auto") {
    if (const auto named = ingest::format_named(flags_.format)) return *named;
    return fail(Errc::kInvalidArgument,
                fmt::format("--format: \"{}\" is not a format; the formats are auto, {}",
                            flags_.format, ingest::format_names()));
  }
  TRY(const std::string_view text, reader_->peek());
  if (text.empty()) return ingest::Format::kOpenTsdb;  // nothing to read
  if (const auto detected = ingest::detect_format(text, flags_.options)) return *detected;
  return fail(Errc::kInvalidArgument,
              fmt::format("cannot tell the format of {} from its first lines; choose one by "
                          "--format: {}",
                          flags_.files.front(), ingest::format_names()));
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
  return import_points({.reader = *reader_,
                        .target = target,
                        .refused = *refused_,
                        .checkpoints = checkpoints_,
                        .progress = progress,
                        .executor = executor,
                        .threads = thread_count(flags_.jobs),
                        .points_per_s_max = flags_.points_per_s_max,
                        .before = begin_,
                        .times = times});
}

}  // namespace

ImportStatus import_files(const Options& options, const ImportFlags& flags, const Print& out,
                          const Print& err) {
  spdlog::set_level(spdlog::level::warn);
  const auto began = std::chrono::steady_clock::now();
  std::optional<KeepOwner> owner;
  if (flags.url.empty() && has_data_dir(options.store)) owner.emplace(options.data_dir);
  const Result<ImportTotals> totals = Run(options, flags, err).run();
  const Result<void> given = owner ? owner->give() : Result<void>();
  if (!given) err(given.error().message);
  if (!totals) {
    err(totals.error().message);
    if (std::filesystem::exists(flags.checkpoint.empty() ? kCheckpointName : flags.checkpoint)) {
      err("the points before the last checkpoint are durable; --resume continues from there");
    }
    return ImportStatus::kFailed;
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  out(fmt::format("{} points stored, {} lines refused, {:.1f} s", totals->points, totals->refused,
                  seconds));
  if (!given) return ImportStatus::kFailed;
  return totals->refused == 0 ? ImportStatus::kAll : ImportStatus::kRefused;
}

}  // namespace halite::app
