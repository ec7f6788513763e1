#include "web/handlers/remote_read_answer.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>

#include <snappy.h>

#include "common/bytes/bytes.h"
#include "common/bytes/crc32c.h"
#include "common/bytes/little_endian.h"
#include "common/bytes/varint.h"
#include "common/data_point.h"
#include "query/selector/label_matcher.h"
#include "web/handlers/xor_chunk.h"

namespace halite::web {
namespace {

// Keys of protobuf fields: number << 3 | wire type.
constexpr char kResults = 1 << 3 | 2;        // ReadResponse
constexpr char kTimeseries = 1 << 3 | 2;     // QueryResult
constexpr char kLabels = 1 << 3 | 2;         // TimeSeries, ChunkedSeries
constexpr char kSampleList = 2 << 3 | 2;     // TimeSeries
constexpr char kLabelName = 1 << 3 | 2;      // Label
constexpr char kLabelValue = 2 << 3 | 2;     // Label
constexpr char kSampleValue = 1 << 3 | 1;    // Sample, a double
constexpr char kSampleTime = 2 << 3 | 0;     // Sample
constexpr char kChunkedSeries = 1 << 3 | 2;  // ChunkedReadResponse
constexpr char kQueryIndex = 2 << 3 | 0;     // ChunkedReadResponse
constexpr char kChunks = 2 << 3 | 2;         // ChunkedSeries
constexpr char kChunkFirst = 1 << 3 | 0;     // Chunk
constexpr char kChunkLast = 2 << 3 | 0;      // Chunk
constexpr char kChunkType = 3 << 3 | 0;      // Chunk
constexpr char kChunkData = 4 << 3 | 2;      // Chunk

constexpr std::uint64_t kXor = 1;  // Chunk.Encoding

void append_number_field(std::string& to, char key, std::uint64_t number) {
  to += key;
  append_varint(to, number);
}

void append_text_field(std::string& to, char key, std::string_view text) {
  append_number_field(to, key, text.size());
  to += text;
}

using Labels = std::vector<std::pair<std::string, std::string>>;

Labels sorted_labels(const storage::Series& series) {
  Labels labels;
  labels.emplace_back(query::kMetricLabel, series.metric.text());
  for (const storage::SeriesTag& tag : series.tags) labels.emplace_back(tag.key, tag.value);
  std::ranges::sort(labels);
  return labels;
}

void append_labels(std::string& to, const Labels& labels) {
  std::string label;
  for (const auto& [name, value] : labels) {
    label.clear();
    append_text_field(label, kLabelName, name);
    append_text_field(label, kLabelValue, value);
    append_text_field(to, kLabels, label);
  }
}

ValueBits double_at(const storage::Block& block, std::size_t i) {
  const ValueBits bits = block.values[i];
  return block.floats[i] ? bits : double_bits(static_cast<double>(as_integer(bits)));
}

// Text as one block of snappy, in pieces. A block is the length of the text and then parts, which
// stand for themselves.
class SnappySource final : public BodySource {
 public:
  SnappySource(std::string text, SamplesAnswer::Rooms rooms)
      : text_(std::move(text)), rooms_(std::move(rooms)) {}

  bool next(std::string& to) override {
    constexpr std::size_t kPackedTogether = 256 << 10;
    if (!std::exchange(begun_, true)) {
      append_varint(to, text_.size());
    } else if (at_ == text_.size()) {
      return false;
    }
    const std::string_view piece = std::string_view(text_).substr(at_, kPackedTogether);
    at_ += piece.size();
    if (piece.empty()) return true;
    std::string packed;
    snappy::Compress(piece.data(), piece.size(), &packed);
    to += std::string_view(packed).substr(varint_size(piece.size()));
    return true;
  }

 private:
  const std::string text_;
  const SamplesAnswer::Rooms rooms_;
  std::size_t at_ = 0;
  bool begun_ = false;
};

}  // namespace

class SamplesAnswer::Text {
 public:
  std::size_t add(const storage::Series& series, const storage::Block& block) {
    if (metric_ != series.metric.text()) {
      end_metric();
      metric_ = series.metric.text();
    }
    std::string& text = series_[series.id];
    const std::size_t before = text.size();
    if (text.empty()) append_labels(text, sorted_labels(series));
    for (std::size_t i = 0; i < block.size(); ++i) {
      append_sample(text, block.times[i], double_at(block, i));
    }
    return text.size() - before;
  }

  void end_query() {
    end_metric();
    append_text_field(text_, kResults, std::exchange(result_, {}));
  }

  Response respond(Rooms rooms) {
    Response response;
    response.content_type = "application/x-protobuf";
    response.headers.add("Content-Encoding", "snappy");
    response.source = std::make_unique<SnappySource>(std::move(text_), std::move(rooms));
    return response;
  }

 private:
  void end_metric() {
    for (const auto& [id, text] : series_) append_text_field(result_, kTimeseries, text);
    series_.clear();
    metric_.clear();
  }

  static void append_sample(std::string& to, TimestampMs time, ValueBits value) {
    const auto time_bits = static_cast<std::uint64_t>(time);
    constexpr std::size_t kValueBytes = 1 + sizeof(value);
    append_number_field(to, kSampleList, kValueBytes + 1 + varint_size(time_bits));
    to += kSampleValue;
    append_le(to, value);
    append_number_field(to, kSampleTime, time_bits);
  }

  std::string text_;    // of the queries that have ended
  std::string result_;  // of the metrics of this query that have ended
  std::string metric_;
  std::unordered_map<storage::SeriesId, std::string> series_;  // of metric_
};

SamplesAnswer::SamplesAnswer() : text_(std::make_unique<Text>()) {}
SamplesAnswer::~SamplesAnswer() = default;
std::size_t SamplesAnswer::add(const storage::Series& series, const storage::Block& block) {
  return text_->add(series, block);
}
void SamplesAnswer::end_query() { text_->end_query(); }
Response SamplesAnswer::respond(Rooms rooms) { return text_->respond(std::move(rooms)); }

namespace {

// A series as chunks in the form of ChunkedSeries.chunks.
class ChunkedSeries {
 public:
  explicit ChunkedSeries(Labels labels) : labels_(std::move(labels)) {}

  // Returns the bytes that it adds.
  std::size_t add(const storage::Block& block) {
    const std::size_t before = bytes_ + open_.bytes().size();
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (open_.size() == XorChunk::kSamplesMax) close_chunk();
      open_.append(block.times[i], double_at(block, i));
    }
    return bytes_ + open_.bytes().size() - before;
  }

  void end() { close_chunk(); }

  [[nodiscard]] const Labels& labels() const { return labels_; }
  // Each as the chunks of a frame.
  [[nodiscard]] const std::vector<std::string>& frames() const { return frames_; }

 private:
  static constexpr std::size_t kFrameBytes = 1 << 20;  // as Prometheus by default

  void close_chunk() {
    std::string chunk;
    append_number_field(chunk, kChunkFirst, static_cast<std::uint64_t>(open_.first()));
    append_number_field(chunk, kChunkLast, static_cast<std::uint64_t>(open_.last()));
    append_number_field(chunk, kChunkType, kXor);
    append_text_field(chunk, kChunkData, open_.bytes());
    open_ = XorChunk();
    if (frames_.empty() || frames_.back().size() >= kFrameBytes) frames_.emplace_back();
    const std::size_t size = frames_.back().size();
    append_text_field(frames_.back(), kChunks, chunk);
    bytes_ += frames_.back().size() - size;
  }

  Labels labels_;
  std::vector<std::string> frames_;
  std::size_t bytes_ = 0;  // of frames_
  XorChunk open_;
};

}  // namespace

class ChunkFrames::Series {
 public:
  explicit Series(bool in_order) : in_order_(in_order) {}

  void add(const storage::Series& series, const storage::Block& block) {
    if (metric_ != series.metric.text()) {
      open_.clear();
      if (in_order_) make_frames();
      metric_ = series.metric.text();
    }
    const auto [at, is_new] = open_.try_emplace(series.id, series_.size());
    if (is_new) {
      series_.emplace_back(sorted_labels(series));
      bytes_ += memory_of(series_.back().labels());
    }
    bytes_ += series_[at->second].add(block);
  }

  void end_query() {
    open_.clear();
    metric_.clear();
    make_frames();
    ++query_;
  }

  std::string take() { return std::exchange(text_, {}); }
  [[nodiscard]] std::size_t bytes() const { return bytes_ + text_.size(); }

 private:
  static std::size_t memory_of(const Labels& labels) {
    std::size_t bytes = sizeof(ChunkedSeries);
    for (const auto& [name, value] : labels) {
      bytes += sizeof(Labels::value_type) + name.size() + value.size();
    }
    return bytes;
  }

  void make_frames() {
    for (ChunkedSeries& series : series_) series.end();
    std::ranges::sort(series_, {}, &ChunkedSeries::labels);
    for (ChunkedSeries& series : series_) {
      for (const std::string& frame : series.frames()) append_frame(series.labels(), frame);
      series = ChunkedSeries({});  // a text of all and the series would be twice the memory
    }
    series_.clear();
    bytes_ = 0;
  }

  void append_frame(const Labels& labels, std::string_view chunks) {
    std::string series;
    append_labels(series, labels);
    series += chunks;
    std::string message;
    append_text_field(message, kChunkedSeries, series);
    if (query_ != 0) append_number_field(message, kQueryIndex, query_);
    append_varint(text_, message.size());
    append_be(text_, crc32c(message));
    text_ += message;
  }

  const bool in_order_;
  std::vector<ChunkedSeries> series_;  // not sorted yet
  std::size_t bytes_ = 0;              // of series_
  std::string metric_;
  std::unordered_map<storage::SeriesId, std::size_t> open_;  // of metric_: places in series_
  std::string text_;                                         // frames
  std::size_t query_ = 0;
};

ChunkFrames::ChunkFrames(bool in_order) : series_(std::make_unique<Series>(in_order)) {}
ChunkFrames::~ChunkFrames() = default;
void ChunkFrames::add(const storage::Series& series, const storage::Block& block) {
  series_->add(series, block);
}
void ChunkFrames::end_query() { series_->end_query(); }
std::string ChunkFrames::take() { return series_->take(); }
std::size_t ChunkFrames::bytes() const { return series_->bytes(); }

}  // namespace halite::web
