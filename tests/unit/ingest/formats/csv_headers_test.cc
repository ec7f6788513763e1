// Parts of a csv text mean what they mean in the whole.
#include <algorithm>
#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ingest/formats/point_format.h"
#include "ingest/import/series_points.h"

namespace halite::ingest {
namespace {

// What a parser says about each line.
class CsvSayings final : public PointReceiver {
 public:
  explicit CsvSayings(const FormatOptions& options) : options_(options) {}

  void read(std::string_view header, std::string_view lines) {
    parser_ = make_parser(Format::kCsv, options_, rules_);
    if (!header.empty()) parser_->begin_behind(header);
    while (!lines.empty()) {
      const std::size_t end = std::min(lines.find('\n'), lines.size());
      parser_->line(lines.substr(0, end), *this);
      lines.remove_prefix(std::min(end + 1, lines.size()));
    }
  }

  void series(const SeriesKey& key) override {
    const auto name = parser_->series_name(key);
    series_ = name ? text_of(*name) : "no series";
  }
  void point(PointBits point) override {
    said.push_back(fmt::format("{} {} {:x}", series_, point.time, point.value));
  }
  void refuse(std::string reason) override { said.push_back(std::move(reason)); }

  std::vector<std::string> said;

 private:
  const FormatOptions& options_;
  const PointRules rules_{{}, ""};
  std::unique_ptr<PointParser> parser_;
  std::string series_;
};

struct CsvText {
  std::vector<std::string> columns;  // FormatOptions::csv_columns
  std::string lines;
};

const std::vector<CsvText>& csv_texts() {
  static const std::vector<CsvText> kTexts = {
      {{}, "metric,time,value,host\r\nm,1,1,a\nm,2,2,b\n"},
      {{}, "of my machines\n\nmetric,time,value,host\nm,1,1,a\n"},
      {{},
       "metric,time,value,host\nm,1,1,a\nmetric,time,value,dc\nm,1,1,a\nm,2,x,b\n"
       "metric,time,value\nm,1,1\nmetric,time,value,dc,host\nm,1,1,a,b\nm,2,2,,b"},
      // Metrics and tags with the words of a header, and headers with quotes.
      {{},
       "metric,time,value,host\nmetric,1,1,value\nmetric.value,2,1,\"a,b\"\n"
       "\"metric\",\"time\",value,\"d\"\"c\"\nmetric,2,1,time\nmetric,time,\nmetric,\"\n"},
      // Columns in another order, and a row of tags with the words of a header.
      {{},
       "metric,time,value,host\nm,1,5,a\nmetric,value,time,host\nm,5,1,a\n"
       "time,value,metric,a,b,c\n1,5,m,metric,time,value\n1,time,metric,value\n1,6,m,a\n"},
      // Files that were put together, one with a byte order mark, and what is nearly a header.
      {{},
       "metric,time,value,host\nm,1,5,a\n\xEF\xBB\xBFmetric,time,value,dc\nm,1,5,a\n"
       "Metric,Time,Value,host\nm,2,5,a\nmetric,time,value,host\nm,3,5,a\n"
       "metric, time, value, dc\nm,4,5,a\nmetric,time,val,dc\nm,5,5,a\n"},
      // A header that is wrong, and one with other columns behind it.
      {{},
       "metric,time,value,host\nm,1,1,a\nmetric,time,value,dc,dc\nm,1,1,a\n"
       "dc,value,time,metric\na,1,1,m\nmetric,time,value,host\nb,2,1,m\n"},
      {{"metric", "time", "value", "host"}, "m,1,1,a\nm,2,2,b\nmetric,time,value,dc\nm,1,1,a\n"},
      {{"metric", "time", "value", "host"},
       "m,1,1,a\nmetric,time,value,dc,dc\nm,1,1,a\ndc,value,time,metric\na,1,1,m\n"},
      {{}, "no header\nat all\n"},
      {{}, ""}};
  return kTexts;
}

TEST(CsvHeaders, PartsMeanWhatTheyMeanInTheWhole) {
  for (const CsvText& text : csv_texts()) {
    SCOPED_TRACE(text.lines);
    FormatOptions options;
    options.csv_columns = text.columns;
    CsvSayings whole(options);
    whole.read("", text.lines);
    const std::string_view lines = text.lines;
    for (std::size_t one = 0; one <= lines.size(); ++one) {
      if (one > 0 && lines[one - 1] != '\n') continue;
      for (std::size_t two = one; two <= lines.size(); ++two) {
        if (two > 0 && lines[two - 1] != '\n') continue;
        CsvSayings parts(options);
        std::string header;
        for (const std::string_view part :
             {lines.substr(0, one), lines.substr(one, two - one), lines.substr(two)}) {
          parts.read(header, part);
          header = header_behind(Format::kCsv, options, header, part);
        }
        EXPECT_EQ(parts.said, whole.said) << one << ' ' << two;
      }
    }
  }
}

TEST(CsvHeaders, AreTheLastOnes) {
  const auto behind = [](std::string_view header, std::string_view lines) {
    return header_behind(Format::kCsv, {}, header, lines);
  };
  EXPECT_EQ(behind("", ""), "");
  EXPECT_EQ(behind("", "metric,time,value,a\r\nm,1,1,x\n"), "metric,time,value,a");
  EXPECT_EQ(behind("metric,time,value,a", "m,1,1,x\n"), "metric,time,value,a");
  EXPECT_EQ(behind("metric,time,value,a", "m,1,1,x\nmetric,time,value,b\nm,1,1,x\n"),
            "metric,time,value,b");
  EXPECT_EQ(header_behind(Format::kInflux, {}, "", "metric,time,value,a\n"), "");
}

}  // namespace
}  // namespace halite::ingest
