#include "web/handlers/export_lines.h"

#include <algorithm>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include "common/json_string.h"

namespace halite::web {
namespace {

SeriesName name_of(const storage::Series& series) {
  SeriesName name{.metric = std::string(series.metric), .tags = {}};
  for (const storage::SeriesTag& tag : series.tags) {
    name.tags.push_back({.key = std::string(tag.key), .value = std::string(tag.value)});
  }
  std::ranges::sort(name.tags);
  return name;
}

std::unique_ptr<ingest::PointWriter> make_lines_writer(std::size_t points_in_line_max) {
  ingest::FormatOptions options;
  options.vm_json_points_max = points_in_line_max;
  options.vm_json_nulls = true;
  return ingest::make_writer(ingest::Format::kVmJson, options);
}

}  // namespace

ExportLines::ExportLines(std::size_t points_in_line_max)
    : writer_(make_lines_writer(points_in_line_max)) {}

void ExportLines::add(const storage::Series& series, const storage::Block& block) {
  if (!begun_ || id_ != series.id) begin_series(series);
  for (std::size_t i = 0; writable_ && i < block.size(); ++i) {
    const auto flags = static_cast<std::uint8_t>(block.floats[i] ? kFloat : 0);
    const ingest::PointBits point{.time = block.times[i], .value = block.values[i], .flags = flags};
    if (auto written = writer_->point(point, text_)) {
      ++written_;
    } else {
      omit(point.time, std::move(written).error());
    }
  }
}

void ExportLines::begin_series(const storage::Series& series) {
  end_series();
  begun_ = true;
  id_ = series.id;
  text_before_ = text_.size();
  const auto named = writer_->series(name_of(series), text_);
  writable_ = named.has_value();
  if (writable_) return;
  text_ += "{\"omitted\":";
  append_json_string(text_, fmt::format("a series of {}: {}", series.metric.text(), named.error()));
  text_ += "}\n";
}

void ExportLines::omit(TimestampMs time, std::string why) {
  if (omitted_++ > 0) return;
  omitted_first_ = time;
  why_ = std::move(why);
}

void ExportLines::end_series() {
  if (begun_ && writable_) {
    if (omitted_ > 0 && written_ == 0) {
      const ingest::PointBits null{.time = omitted_first_, .value = kStaleMarker, .flags = kFloat};
      // If the format cannot say the time either, there is a line without a series.
      std::ignore = writer_->point(null, text_);
    }
    writer_->finish(text_);
    if (omitted_ > 0) {
      if (text_.size() > text_before_) {
        text_.resize(text_.size() - 2);  // "}\n"
        text_ += ',';
      } else {
        text_ += '{';
      }
      text_ += "\"omitted\":";
      append_json_string(text_, fmt::format("{} point{}; the first: {}", omitted_,
                                            omitted_ == 1 ? "" : "s", why_));
      text_ += "}\n";
    }
  }
  begun_ = false;
  written_ = omitted_ = 0;
}

std::string ExportLines::take() {
  end_series();
  return std::exchange(text_, {});
}

}  // namespace halite::web
