#include "ingest/formats/checked_writer.h"

#include <utility>

#include <fmt/format.h>

#include "common/bytes/utf8.h"
#include "ingest/formats/number_text.h"

namespace halite::ingest {
namespace {

// Whether a server takes the names is not the format's affair: other servers have other settings.
const PointRules& all_names() {
  static const PointRules kRules = [] {
    std::string all;
    for (char32_t unit = 1; unit < 0x10000; ++unit) append_utf8(all, unit);
    return PointRules({.tags_max = 1 << 16, .name_bytes_max = 1 << 24}, all);
  }();
  return kRules;
}

bool has_integers(Format format) {
  return format == Format::kOpenTsdb || format == Format::kInflux || format == Format::kCsv;
}

// Whether a double has this value exactly.
bool is_double(std::int64_t value) {
  constexpr double kEnd = 9223372036854775808.0;  // 2^63
  const auto real = static_cast<double>(value);
  return real < kEnd && static_cast<std::int64_t>(real) == value;
}

// Keeps what the last line says.
class LastSeries final : public PointReceiver {
 public:
  explicit LastSeries(const PointParser& parser) : parser_(parser) {}

  void series(const SeriesKey& key) override {
    auto name = parser_.series_name(key);
    if (name) {
      name_ = *std::move(name);
    } else {
      refuse(std::move(name).error().text);
    }
  }
  void point(PointBits /*point*/) override { ++points_; }
  void refuse(std::string reason) override { refused_ = std::move(reason); }

  // Why the line is not one point of `series`; nothing if it is.
  [[nodiscard]] std::optional<Unwritable> compare(const SeriesName& series) const {
    if (refused_) return *refused_;
    if (points_ != 1 || name_ != series) return "the names would be read as others";
    return std::nullopt;
  }

 private:
  const PointParser& parser_;
  SeriesName name_;
  std::size_t points_ = 0;
  std::optional<std::string> refused_;
};

class CheckedWriter final : public PointWriter {
 public:
  CheckedWriter(Format format, const FormatOptions& options, MakeWriter make)
      : format_(format),
        options_(options),
        opentsdb_names_({.tags_max = 1 << 16, .name_bytes_max = 1 << 24},
                        options.special_characters),
        make_(make),
        writer_(make(format, options)) {
    options_.influx_precision = TimeUnit::kNanoseconds;  // the one that is written
    begin_probe();
  }

  void header(std::string& to) override { writer_->header(to); }
  void finish(std::string& to) override { writer_->finish(to); }
  void footer(std::string& to) override { writer_->footer(to); }

  std::expected<void, Unwritable> series(const SeriesName& name, std::string& to) override {
    if (auto wrong = probe(name)) {
      begin_probe();
      return std::unexpected(fmt::format("{} has no form for the names of this series: {}",
                                         format_name(format_), *wrong));
    }
    return writer_->series(name, to);
  }

  std::expected<void, Unwritable> point(PointBits point, std::string& to) override {
    if ((point.flags & kFloat) == 0 && !has_integers(format_) &&
        !is_double(as_integer(point.value))) {
      return std::unexpected(fmt::format("{} has only doubles, and {} is none",
                                         format_name(format_), as_integer(point.value)));
    }
    return writer_->point(point, to);
  }

 private:
  void begin_probe() {
    probe_writer_ = make_(format_, options_);
    FormatOptions options = options_;
    options.csv_columns.clear();
    probe_parser_ =
        make_parser(format_, options, format_ == Format::kOpenTsdb ? opentsdb_names_ : all_names());
    text_.clear();
    probe_writer_->header(text_);
  }

  std::optional<Unwritable> probe(const SeriesName& name) {
    constexpr TimestampMs kTime = 1'700'000'000'000;
    if (auto wrong = probe_writer_->series(name, text_); !wrong) return std::move(wrong).error();
    if (auto wrong = probe_writer_->point(double_point(kTime, double_bits(1)), text_); !wrong) {
      return std::move(wrong).error();
    }
    probe_writer_->finish(text_);
    LastSeries read(*probe_parser_);
    std::string_view rest = text_;
    while (!rest.empty()) {
      const std::size_t end = rest.find('\n');
      probe_parser_->line(rest.substr(0, end), read);
      rest.remove_prefix(end + 1);
    }
    text_.clear();
    return read.compare(name);
  }

  const Format format_;
  FormatOptions options_;
  const PointRules opentsdb_names_;
  const MakeWriter make_;
  const std::unique_ptr<PointWriter> writer_;
  std::unique_ptr<PointWriter> probe_writer_;
  std::unique_ptr<PointParser> probe_parser_;
  std::string text_;
};

}  // namespace

std::unique_ptr<PointWriter> make_checked_writer(Format format, const FormatOptions& options,
                                                 MakeWriter make) {
  return std::make_unique<CheckedWriter>(format, options, make);
}

}  // namespace halite::ingest
