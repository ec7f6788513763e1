#include "app/tools/export_tool.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "app/bulk/checkpoint.h"
#include "app/bulk/export.h"
#include "common/log.h"

namespace halite::app {
namespace {

Result<ImportTotals> run_export(const Options& options, const ExportFlags& flags,
                                const Print& err) {
  const auto format = ingest::format_named(flags.format);
  if (!format) {
    return fail(Errc::kInvalidArgument,
                fmt::format("--format: \"{}\" is not a format; the formats are {}", flags.format,
                            ingest::format_names()));
  }
  const bool to_file = flags.output != "-";
  if (flags.resume && !to_file) {
    return fail(Errc::kInvalidArgument, "--resume needs --output");
  }
  std::string checkpoint;
  if (to_file) {
    checkpoint = flags.checkpoint.empty() ? flags.output + ".checkpoint" : flags.checkpoint;
  }
  TRY_VOID(check_distinct(
      {{.flag = "--output", .path = flags.output}, {.flag = "--errors", .path = flags.errors}},
      checkpoint));
  TRY(const OpenedSource opened, open_source(options, flags.source));
  ExportJob job{.source = *opened.source, .walk = {}, .format = *format, .path = flags.output};
  job.walk.range = opened.range;
  job.walk.threads = thread_count(flags.jobs);
  job.packing = packing_of(flags.output);
  job.checkpoint = std::move(checkpoint);
  job.checkpoint_interval = interval_ms(flags.checkpoint_interval_s);
  job.resume = flags.resume;
  job.task = fmt::format("export to {} as {} from {}", flags.output, flags.format,
                         describe_source(options, flags.source));
  job.options.special_characters = options.ingest.special_characters;
  job.errors = flags.errors;
  job.quiet = flags.quiet;
  return export_points(std::move(job), err);
}

}  // namespace

ExportStatus export_files(const Options& options, const ExportFlags& flags, const Print& out,
                          const Print& err) {
  spdlog::set_level(spdlog::level::warn);
  const auto began = std::chrono::steady_clock::now();
  const Result<ImportTotals> totals = run_export(options, flags, err);
  if (!totals) {
    err(totals.error().message);
    return ExportStatus::kFailed;
  }
  const double seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  if (totals->points == 0 && totals->refused == 0) err("there are no such points");
  const std::string done = fmt::format("{} written, {} refused by the format, {:.1f} s",
                                       counted(totals->points, "point"), totals->refused, seconds);
  (flags.output == "-" ? err : out)(done);
  return totals->refused == 0 ? ExportStatus::kAll : ExportStatus::kRefused;
}

}  // namespace halite::app
