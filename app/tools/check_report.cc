#include "app/tools/check_report.h"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

#include <boost/json.hpp>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "common/units.h"

namespace halite::app {
namespace {

using storage::check::Finding;
using storage::check::Impact;
using storage::check::Report;

constexpr std::size_t kSeriesShown = 8;

std::string time_text(TimestampMs time) {
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}Z", fmt::gmtime(time / 1000));
}

std::string hurt_line(const Impact& impact) {
  std::string text = "  affected: " + impact.what;
  if (impact.series_max > 0) {
    const std::size_t shown = std::min(impact.series.size(), kSeriesShown);
    text += fmt::format(" of {}", fmt::join(std::span(impact.series).first(shown), ", "));
    if (impact.series_max > shown) text += fmt::format(" and {} more", impact.series_max - shown);
    if (impact.series_max > 1) text += ", or some of them";
  }
  if (impact.times) {
    text += fmt::format(", from {} until {}", time_text(impact.times->begin),
                        time_text(impact.times->end));
  }
  return text;
}

boost::json::object json_of(const Impact& impact) {
  boost::json::object object;
  object["what"] = impact.what;
  object["series_max"] = impact.series_max;
  boost::json::array& series = object["series"].emplace_array();
  for (const std::string& one : impact.series) series.emplace_back(one);
  if (impact.times) {
    object["begin_ms"] = impact.times->begin;
    object["end_ms"] = impact.times->end;
  }
  return object;
}

boost::json::object json_of(const Finding& finding) {
  boost::json::object object;
  object["file"] = finding.file;
  if (finding.offset) object["offset"] = *finding.offset;
  object["what"] = finding.what;
  object["may_be_torn"] = finding.may_be_torn;
  if (finding.impact) object["hurt"] = json_of(*finding.impact);
  return object;
}

}  // namespace

std::vector<std::string> finding_lines(const Finding& finding) {
  std::string line = finding.file;
  if (finding.offset) line += fmt::format(" at byte {}", *finding.offset);
  line += ": " + finding.what;
  if (finding.may_be_torn) line += " (damage, or an incomplete write after a power failure)";
  std::vector<std::string> lines = {std::move(line)};
  if (finding.impact) lines.push_back(hurt_line(*finding.impact));
  return lines;
}

std::vector<std::string> check_lines(const Report& report) {
  std::vector<std::string> lines;
  for (const Finding& finding : report.findings) {
    for (std::string& line : finding_lines(finding)) lines.push_back(std::move(line));
  }
  for (const std::string& note : report.notes) lines.push_back("note: " + note);
  lines.push_back(
      fmt::format("read {} files, {:.1f} MiB: {} chunks with {} points, {} records of "
                  "the log, {} series",
                  report.files, static_cast<double>(report.bytes) / kMiB, report.chunks,
                  report.points, report.records, report.series));
  lines.push_back(report.findings.empty()
                      ? "no damage found"
                      : fmt::format("damaged places: {}", report.findings.size()));
  return lines;
}

namespace {

boost::json::object json_of(const Report& report) {
  boost::json::object object;
  object["sound"] = report.findings.empty();
  boost::json::array& findings = object["findings"].emplace_array();
  for (const Finding& finding : report.findings) findings.emplace_back(json_of(finding));
  boost::json::array& notes = object["notes"].emplace_array();
  for (const std::string& note : report.notes) notes.emplace_back(note);
  object["files"] = report.files;
  object["bytes"] = report.bytes;
  object["chunks"] = report.chunks;
  object["points"] = report.points;
  object["records"] = report.records;
  object["series"] = report.series;
  return object;
}

}  // namespace

std::string check_json(const Report& report) { return boost::json::serialize(json_of(report)); }

std::string scrub_json(const storage::check::ScrubState& state) {
  boost::json::object object = json_of(state.report);
  // Before the end, only damage is known.
  if (state.ended_ms == 0 && state.report.findings.empty()) object["sound"] = nullptr;
  object["running"] = state.running;
  object["began_ms"] = state.began_ms;
  object["ended_ms"] = state.ended_ms;
  object["bytes_done"] = state.progress.bytes_done;
  object["bytes_total"] = state.progress.bytes_total;
  return boost::json::serialize(object);
}

}  // namespace halite::app
