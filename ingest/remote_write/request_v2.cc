// io.prometheus.write.v2.Request.
#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "common/bytes/varint.h"
#include "ingest/remote_write/plain_samples.h"
#include "ingest/remote_write/requests.h"
#include "ingest/series_cache/label_fields.h"

namespace halite::ingest {
namespace {

// The family of a series: metadata of a classic histogram or summary is that of all its series.
std::string_view family_of(std::string_view metric, std::string_view type) {
  struct Suffixes {
    std::string_view type;
    std::array<std::string_view, 3> suffixes;
  };
  static constexpr auto kSuffixes =
      std::to_array<Suffixes>({{"histogram", {"_bucket", "_count", "_sum"}},
                               {"gaugehistogram", {"_bucket", "_gcount", "_gsum"}},
                               {"summary", {"_count", "_sum", "_sum"}}});
  const auto* const of_type = std::ranges::find(kSuffixes, type, &Suffixes::type);
  if (of_type == kSuffixes.end()) return metric;
  for (const std::string_view suffix : of_type->suffixes) {
    if (metric.ends_with(suffix)) return metric.substr(0, metric.size() - suffix.size());
  }
  return metric;
}

class RequestV2 final : public RemoteWriteBody {
 public:
  RequestV2(BytesView bytes, const IngestLimits& limits) : RemoteWriteBody(limits), bytes_(bytes) {}

  Result<void> read(PointReceiver& to) override {
    TRY_VOID(read_symbols());
    ProtoFault fault;
    ProtoReader request(bytes_, fault);
    while (request.next()) {
      if (request.field() != kTimeSeries) continue;
      to.part(++number_);
      TRY_VOID(read_series(request, to));
    }
    if (fault) return fail(Errc::kInvalidArgument, fault.text());
    return {};
  }

 private:
  struct Symbol {
    BytesView text;
    BytesView sized;  // with its size before it
  };

  // The last series whose labels were those of the likely one.
  struct SeriesBefore {
    std::vector<std::uint64_t> refs;
    std::vector<std::size_t> ends;  // of its labels, in its text
    std::string text;

    // The end of the first `labels` of them.
    [[nodiscard]] std::size_t end_of(std::size_t labels) const {
      return labels == 0 ? 0 : ends[labels - 1];
    }
  };

  static constexpr std::uint32_t kTimeSeriesOf1 = 1;
  static constexpr std::uint32_t kMetadataOf1 = 3;
  static constexpr std::uint32_t kSymbol = 4;
  static constexpr std::uint32_t kTimeSeries = 5;
  static constexpr std::uint32_t kLabelsRefs = 1;
  static constexpr char kLabelsTag = kLabelsRefs << 3 | static_cast<char>(ProtoWire::kBytes);
  static constexpr std::size_t kShort = 16;  // bytes
  static constexpr std::uint32_t kMetadata = 5;
  static constexpr SeriesFields kFields = {.sample = kSampleField, .histogram = 3, .exemplar = 4};

  // They may lie behind the series.
  Result<void> read_symbols() {
    ProtoFault fault;
    ProtoReader request(bytes_, fault);
    while (request.next()) {
      if (request.field() == kSymbol) add_symbol(request);
      if (request.field() == kTimeSeriesOf1 || request.field() == kMetadataOf1) {
        request.refuse("is one of remote_write 1.0, but the Content-Type says 2.0");
      }
    }
    if (fault) return fail(Errc::kInvalidArgument, fault.text());
    if (!symbols_.empty() && !symbols_.front().text.empty()) {
      return fail(Errc::kInvalidArgument, "the first symbol is not empty");
    }
    told_.resize(symbols_.size());
    return {};
  }

  void add_symbol(ProtoReader& request) {
    const BytesView text = request.bytes();
    const BytesView sized = request.raw().substr(1);
    symbols_.push_back({.text = text, .sized = sized});
    if (sized.size() != varint_size(text.size()) + text.size()) are_symbols_plain_ = false;
  }

  Result<void> read_series(ProtoReader& request, PointReceiver& to) {
    TRY(const bool is_read, read_likely_series(request, to));
    return is_read ? Result<void>() : read_any_series(request, to);
  }

  // Compares labels where they lie and builds no key. False: this is not the likely series, or not
  // written as senders do it, the samples behind the labels and the metadata at the end.
  Result<bool> read_likely_series(ProtoReader& request, PointReceiver& to) {
    const SeriesKey likely = to.likely_series();
    if (likely.grammar != KeyGrammar::kLabelFields || !are_symbols_plain_) return false;
    BytesView fields = request.bytes();
    if (!take_labels(fields, likely.tags)) return false;
    samples_.clear();
    take_plain_samples(fields, samples_);
    if (samples_.empty()) return false;
    std::optional<MetadataRefs> about;
    for (ProtoReader rest = request.again(fields); rest.next();) {
      if (rest.field() != kMetadata) return false;
      ProtoReader metadata = rest.message();
      about = read_metadata(metadata);
    }
    TRY_VOID(count_label_bytes(likely.tags.size()));
    to.take_likely_series();
    TRY_VOID(pass_on(samples_, likely.tags, to));
    if (about) TRY_VOID(pass_on_metadata(*about, to));
    return true;
  }

  // Removes the packed references to labels from the front of `fields`, if they are those of `key`.
  // Most labels are those of the series before, whose text is compared at once.
  bool take_labels(BytesView& fields, BytesView key) {
    if (!take_refs(fields)) return false;
    const std::size_t labels = refs_.size() / 2;
    const std::size_t same_most = std::min(labels, before_.ends.size());
    std::size_t front = 0;
    while (front < same_most && is_label_of_before(front, front)) ++front;
    std::size_t back = 0;
    while (back < same_most - front &&
           is_label_of_before(labels - 1 - back, before_.ends.size() - 1 - back)) {
      ++back;
    }
    const BytesView text_before = before_.text;
    const BytesView same_front = text_before.substr(0, before_.end_of(front));
    const BytesView same_back = text_before.substr(before_.end_of(before_.ends.size() - back));
    if (!key.starts_with(same_front)) return false;
    BytesView rest = key.substr(same_front.size());
    ends_.assign(before_.ends.begin(), before_.ends.begin() + static_cast<std::ptrdiff_t>(front));
    for (std::size_t i = front; i < labels - back; ++i) {
      const Symbol& name = symbols_[refs_[2 * i]];
      const Symbol& value = symbols_[refs_[2 * i + 1]];
      if (!LabelFields::take(rest, name.sized, value.sized)) return false;
      ends_.push_back(key.size() - rest.size());
    }
    if (rest != same_back) return false;
    for (std::size_t i = before_.ends.size() - back; i < before_.ends.size(); ++i) {
      ends_.push_back(before_.ends[i] + key.size() - text_before.size());
    }
    before_.text.assign(key);
    before_.refs = refs_;
    before_.ends.swap(ends_);
    return true;
  }

  // Moves packed references to symbols from the front of `fields` to refs_.
  bool take_refs(BytesView& fields) {
    refs_.clear();
    if (!fields.starts_with(kLabelsTag)) return false;
    fields.remove_prefix(1);
    const auto size = take_number(fields);
    if (!size || *size > fields.size()) return false;
    BytesView refs = fields.substr(0, *size);
    fields.remove_prefix(*size);
    while (!refs.empty()) {
      const auto ref = take_number(refs);
      if (!ref || *ref >= symbols_.size()) return false;
      refs_.push_back(*ref);
    }
    return refs_.size() % 2 == 0;
  }

  // Whether label `at` of refs_ is label `at_before` of the series before.
  [[nodiscard]] bool is_label_of_before(std::size_t at, std::size_t at_before) const {
    return refs_[2 * at] == before_.refs[2 * at_before] &&
           refs_[2 * at + 1] == before_.refs[2 * at_before + 1];
  }

  Result<void> read_any_series(ProtoReader& request, PointReceiver& to) {
    refs_.clear();
    std::optional<MetadataRefs> about;
    ProtoReader series = request.message();
    while (series.next()) {
      if (series.field() == kLabelsRefs) {
        series.each_varint([&](std::uint64_t ref) { refs_.push_back(ref); });
      } else if (series.field() == kMetadata) {
        ProtoReader metadata = series.message();
        about = read_metadata(metadata);
      }
    }
    TRY(const bool fits, read_labels());
    ProtoReader again = request.message();
    const Labels labels = fits ? Labels(labels_) : std::unexpected(too_long());
    TRY_VOID(pass_on(labels, again, kFields, to));
    if (about) return pass_on_metadata(*about, to);
    return {};
  }

  // False: they are more than any series may have.
  Result<bool> read_labels() {
    if (refs_.size() % 2 != 0) {
      return fail(Errc::kInvalidArgument,
                  fmt::format("series {} has {} references to symbols for its labels, which is odd",
                              number_, refs_.size()));
    }
    labels_ = {};
    if (buffer_ == nullptr)
      buffer_ = std::make_unique_for_overwrite<char[]>(labels_size_max_ +
                                                       LabelFields::kOverheadMax + kShort);
    char* at = buffer_.get();
    for (std::size_t i = 0; i < refs_.size(); i += 2) {
      TRY_VOID(check(refs_[i]));
      TRY_VOID(check(refs_[i + 1]));
      const BytesView name = symbols_[refs_[i]].text;
      const BytesView value = symbols_[refs_[i + 1]].text;
      const auto used = static_cast<std::size_t>(at - buffer_.get());
      if (used + name.size() + value.size() > labels_size_max_) {
        refs_.resize(i);  // the rest are not checked
        TRY_VOID(count_label_bytes(used));
        return false;
      }
      at = LabelFields::store(at, name, value,
                              [this](char* to, BytesView symbol) { copy(to, symbol); });
    }
    labels_ = {buffer_.get(), at};
    TRY_VOID(count_label_bytes(labels_.size()));
    return true;
  }

  Result<void> count_label_bytes(std::size_t bytes) {
    label_bytes_ += bytes;
    if (label_bytes_ <= kLabelBytesMax) [[likely]]
      return {};
    return fail(Errc::kTooLarge,
                fmt::format("the labels of the first {} series have more than {} bytes, send "
                            "fewer series in a request",
                            number_, kLabelBytesMax));
  }

  [[nodiscard]] std::string too_long() const {
    return fmt::format(
        "the labels have more than {} bytes, too many for {} tags (ingest.tags_max) of {} bytes "
        "(ingest.name_bytes_max)",
        labels_size_max_, limits().tags_max, limits().name_bytes_max);
  }

  // Most symbols are short: a copy of constant size is faster, also of what is behind them.
  void copy(char* to, BytesView symbol) const {
    const auto left = static_cast<std::size_t>(bytes_.data() + bytes_.size() - symbol.data());
    if (symbol.size() <= kShort && left >= kShort) [[likely]] {
      std::memcpy(to, symbol.data(), kShort);
    } else {
      std::memcpy(to, symbol.data(), symbol.size());
    }
  }

  Result<void> check(std::uint64_t ref) const {
    if (ref < symbols_.size()) [[likely]]
      return {};
    return fail(Errc::kInvalidArgument,
                fmt::format("series {} refers to symbol {}, the request has {}, counted from 0",
                            number_, ref, symbols_.size()));
  }

  // Most are small.
  static std::optional<std::uint64_t> take_number(BytesView& from) {
    if (from.empty() || static_cast<unsigned char>(from.front()) >= 0x80) return take_varint(from);
    const auto number = static_cast<unsigned char>(from.front());
    from.remove_prefix(1);
    return number;
  }

  struct MetadataRefs {
    std::uint64_t type = 0;
    std::uint64_t help = 0;
    std::uint64_t unit = 0;
  };

  static MetadataRefs read_metadata(ProtoReader& metadata) {
    MetadataRefs about;
    while (metadata.next()) {
      if (metadata.field() == 1) about.type = metadata.varint();
      if (metadata.field() == 3) about.help = metadata.varint();
      if (metadata.field() == 4) about.unit = metadata.varint();
    }
    return about;
  }

  // The symbol that is the metric of refs_; 0: none.
  [[nodiscard]] std::uint64_t metric_ref() const {
    std::uint64_t metric = 0;
    for (std::size_t i = 0; i < refs_.size(); i += 2) {
      if (symbols_[refs_[i]].text == kNameLabel) metric = refs_[i + 1];
    }
    return metric;
  }

  // Senders repeat it in each series of a metric.
  Result<void> pass_on_metadata(const MetadataRefs& refs, PointReceiver& to) {
    if (refs.help != 0) TRY_VOID(check(refs.help));
    if (refs.unit != 0) TRY_VOID(check(refs.unit));
    const std::uint64_t metric = metric_ref();
    if (metric == 0 || told_[metric]) return {};
    told_[metric] = true;
    if (refs.type == 0 && refs.help == 0 && refs.unit == 0) return {};
    const std::string_view type = metric_type_name(refs.type);
    const MetricMetadata about{.family = family_of(symbols_[metric].text, type),
                               .type = type,
                               .unit = symbols_[refs.unit].text,
                               .help = symbols_[refs.help].text};
    return pass_on(about, to);
  }

  const BytesView bytes_;
  // Of the metric and as many tags as a series may have, with some room for empty ones.
  const std::size_t labels_size_max_ =
      (limits().tags_max + 2) * (2 * limits().name_bytes_max + LabelFields::kOverheadMax);
  std::vector<Symbol> symbols_;
  bool are_symbols_plain_ = true;  // their fields have no bytes too many
  std::vector<bool> told_;         // by symbol: metadata of this metric was passed on
  std::uint32_t number_ = 0;       // of the current series
  std::size_t label_bytes_ = 0;    // of all series
  // Of the current series.
  std::vector<RemoteSample> samples_;
  std::vector<std::uint64_t> refs_;
  std::unique_ptr<char[]> buffer_;  // of the key, and some room
  BytesView labels_;                // its part that is in use
  std::vector<std::size_t> ends_;   // of the labels, in the text of the key
  SeriesBefore before_;
};

}  // namespace

std::unique_ptr<RemoteWriteBody> make_request_v2(BytesView bytes, const IngestLimits& limits) {
  return std::make_unique<RequestV2>(bytes, limits);
}

}  // namespace halite::ingest
