// Bodies of remote_write, without their compression. The first byte chooses the version. A key
// names the series that it was made for, in whichever order labels are. A body whose series are
// likely gives the same points.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "common/check.h"
#include "ingest/remote_write/remote_write_body.h"
#include "ingest/series_cache/label_fields.h"

namespace halite::ingest {
namespace {

constexpr IngestLimits kLimits = {.tags_max = 8, .name_bytes_max = 64};

class Taken final : public PointReceiver {
 public:
  // `likely`: keys of series in the order in which they are expected.
  explicit Taken(const PointBody& body, std::vector<std::string> likely = {})
      : body_(body), likely_(std::move(likely)) {}

  void part(std::uint32_t number) override {
    HALITE_CHECK(number == part_ + 1, "parts are counted from 1");
    part_ = number;
  }
  void series(const SeriesKey& key) override {
    HALITE_CHECK(part_ != 0, "a series is in a part");
    keys.emplace_back(key.tags);
    const auto name = body_.series_name(key);
    known_ = true;
    if (!name) {
      HALITE_CHECK(!name.error().text.empty(), "a refusal has a reason");
      return;
    }
    HALITE_CHECK(!name->metric.empty() && name->tags.size() <= kLimits.tags_max,
                 "names within the limits");
    HALITE_CHECK(std::ranges::is_sorted(name->tags), "tags in the order of their keys");
    std::string again;
    for (const Tag& tag : name->tags) LabelFields::append(again, tag.key, tag.value);
    LabelFields::append(again, kNameLabel, name->metric);
    HALITE_CHECK(body_.series_name({.grammar = key.grammar, .metric = {}, .tags = again}) == *name,
                 "the names make the same series again");
  }
  [[nodiscard]] SeriesKey likely_series() const override {
    if (keys.size() >= likely_.size()) return {};
    return {.grammar = KeyGrammar::kLabelFields, .metric = {}, .tags = likely_[keys.size()]};
  }
  void take_likely_series() override { series(likely_series()); }
  void point(PointBits point) override {
    HALITE_CHECK(known_, "a point follows its series");
    HALITE_CHECK(point.time >= 0 && point.time <= kTimestampMax, "a time in the range");
    texts.push_back(std::to_string(point.time) + ' ' + std::to_string(point.value));
    ++points_;
  }
  void refuse(std::string reason) override {
    HALITE_CHECK(!reason.empty(), "a refusal has a reason");
    texts.push_back(std::move(reason));
    ++refused_;
  }
  void skip(std::string_view /*what*/) override { ++skipped_; }
  void metadata(const MetricMetadata& about) override {
    HALITE_CHECK(!about.family.empty() && !about.type.empty(), "metadata of a metric");
    texts.emplace_back(about.family).append(about.type).append(about.unit).append(about.help);
  }

  void check(const RemoteWriteCounts& counts) const {
    HALITE_CHECK(points_ <= counts.samples && counts.exemplars == skipped_, "all is counted");
    HALITE_CHECK(counts.samples + counts.histograms <= points_ + refused_, "and passed on");
  }

  std::vector<std::string> keys;
  std::vector<std::string> texts;  // points, refusals and metadata

 private:
  const PointBody& body_;
  const std::vector<std::string> likely_;
  std::uint32_t part_ = 0;
  bool known_ = false;
  std::uint64_t points_ = 0;
  std::uint64_t refused_ = 0;
  std::uint64_t skipped_ = 0;
};

}  // namespace

void check_remote_write(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return;
  const BytesView bytes(reinterpret_cast<const char*>(data + 1), size - 1);
  const auto version = data[0] % 2 == 0 ? RemoteWriteVersion::k2 : RemoteWriteVersion::k1;
  const auto body = make_remote_write_body(version, bytes, kLimits);
  Taken taken(*body);
  const auto read = body->read(taken);
  HALITE_CHECK(read || !read.error().message.empty(), "an error has a text");
  taken.check(body->counts());
  if (!read) return;
  const auto again = make_remote_write_body(version, bytes, kLimits);
  Taken likely(*again, taken.keys);
  HALITE_CHECK(again->read(likely), "the same bytes are no error");
  likely.check(again->counts());
  HALITE_CHECK(likely.keys == taken.keys && likely.texts == taken.texts, "the same points");
}

}  // namespace halite::ingest

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  halite::ingest::check_remote_write(data, size);
  return 0;
}
