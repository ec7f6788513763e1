#include "app/bulk/export.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <zlib.h>
#include <zstd.h>

#include "app/bulk/walk_checkpoint.h"
#include "common/check.h"
#include "storage/files/open_durably.h"
#include "storage/files/posix_files.h"

namespace halite::app {
namespace {

using std::chrono::steady_clock;

constexpr int kZstdLevel = 3;
constexpr int kGzipLevel = 6;

// A gzip member.
std::string gzip(std::string_view text) {
  z_stream stream{};
  constexpr int kGzipWindow = 15 + 16;
  HALITE_CHECK(
      deflateInit2(&stream, kGzipLevel, Z_DEFLATED, kGzipWindow, 8, Z_DEFAULT_STRATEGY) == Z_OK,
      "zlib was called in a wrong state");
  std::string packed(deflateBound(&stream, text.size()), '\0');
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  stream.avail_in = static_cast<uInt>(text.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  HALITE_CHECK(deflate(&stream, Z_FINISH) == Z_STREAM_END, "the bound of zlib is too small");
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

// A zstd frame.
std::string zstd(std::string_view text) {
  std::string packed(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size =
      ZSTD_compress(packed.data(), packed.size(), text.data(), text.size(), kZstdLevel);
  HALITE_CHECK(ZSTD_isError(size) == 0, "the bound of zstd is too small");
  packed.resize(size);
  return packed;
}

std::string pack(std::string_view text, Packing packing) {
  if (packing == Packing::kNone) return std::string(text);
  constexpr std::size_t kMemberBytes = 1 << 30;
  std::string packed;
  for (; !text.empty(); text.remove_prefix(std::min(kMemberBytes, text.size()))) {
    const std::string_view member = text.substr(0, kMemberBytes);
    packed += packing == Packing::kGzip ? gzip(member) : zstd(member);
  }
  return packed;
}

// A file, or standard output.
class Output {
 public:
  static Result<std::unique_ptr<Output>> open(const std::string& path, std::uint64_t keep_bytes,
                                              bool resumes) {
    if (path == "-") return std::make_unique<Output>(nullptr, 0);
    const auto files = storage::posix_files();
    auto file = storage::open_durably(
        *files, path, resumes ? storage::OpenFile::kWrite : storage::OpenFile::kCreate);
    if (!file && file.error().code == Errc::kConflict) {
      return fail(Errc::kConflict,
                  fmt::format("{} exists; remove it, or choose another --output", path));
    }
    if (!file) return std::unexpected(file.error());
    TRY(const std::uint64_t bytes, (*file)->size());
    if (bytes < keep_bytes) {
      return fail(Errc::kConflict,
                  fmt::format("{} has {} bytes, fewer than the {} that the interrupted export left",
                              path, bytes, keep_bytes));
    }
    TRY_VOID((*file)->truncate(keep_bytes));
    return std::make_unique<Output>(*std::move(file), keep_bytes);
  }
  Output(std::unique_ptr<storage::File> file, std::uint64_t bytes)
      : file_(std::move(file)), bytes_(bytes) {}

  Result<void> write(std::string_view text) {
    const std::uint64_t at = std::exchange(bytes_, bytes_ + text.size());
    if (file_) return file_->pwrite(at, text);
    while (!text.empty()) {
      const ssize_t wrote = ::write(STDOUT_FILENO, text.data(), text.size());
      if (wrote < 0 && errno == EINTR) continue;
      if (wrote < 0) {
        return fail(Errc::kUnavailable,
                    fmt::format("cannot write to standard output: {}", std::strerror(errno)));
      }
      text.remove_prefix(static_cast<std::size_t>(wrote));
    }
    return {};
  }
  Result<void> sync() { return file_ ? file_->datasync() : Result<void>(); }
  [[nodiscard]] std::uint64_t bytes() const { return bytes_; }

 private:
  const std::unique_ptr<storage::File> file_;  // null: standard output
  std::uint64_t bytes_;
};

struct Unwritten {
  std::string series;
  std::string reason;
  std::uint64_t points = 0;
};

struct Text final : SliceSink::Prepared {
  std::string packed;
  std::uint64_t points = 0;
  std::vector<Unwritten> unwritten;
};

class Export final : public SliceSink {
 public:
  Export(const ExportJob& job, std::unique_ptr<Output> output,
         std::unique_ptr<RefusedLines> refused, WalkState state)
      : job_(job),
        output_(std::move(output)),
        refused_(std::move(refused)),
        progress_(0, job.quiet),
        state_(std::move(state)) {}

  Result<std::unique_ptr<Prepared>> prepare(const SourceSlice& /*slice*/,
                                            std::vector<ingest::SeriesPoints> points) override;
  Result<void> take(std::unique_ptr<Prepared> prepared) override;
  Result<void> reached(const SourcePosition& position) override;

  Result<void> begin();
  Result<ImportTotals> finish();

 private:
  Result<void> checkpoint();

  const ExportJob& job_;
  const std::unique_ptr<Output> output_;
  const std::unique_ptr<RefusedLines> refused_;
  Progress progress_;
  WalkState state_;
  steady_clock::time_point last_ = steady_clock::now();
};

Result<std::unique_ptr<SliceSink::Prepared>> Export::prepare(
    const SourceSlice& /*slice*/, std::vector<ingest::SeriesPoints> points) {
  auto text = std::make_unique<Text>();
  const auto writer = ingest::make_writer(job_.format, job_.options);
  std::string plain;
  for (const ingest::SeriesPoints& series : points) {
    const auto refuse = [&](const std::string& reason, std::uint64_t count) {
      if (text->unwritten.empty() || text->unwritten.back().reason != reason ||
          text->unwritten.back().series != ingest::text_of(series.series)) {
        text->unwritten.push_back({.series = ingest::text_of(series.series), .reason = reason});
      }
      text->unwritten.back().points += count;
    };
    if (const auto named = writer->series(series.series, plain); !named) {
      refuse(named.error(), series.points.size());
      continue;
    }
    for (const ingest::PointBits& point : series.points) {
      if (const auto written = writer->point(point, plain)) {
        ++text->points;
      } else {
        refuse(written.error(), 1);
      }
    }
  }
  writer->finish(plain);
  text->packed = pack(plain, job_.packing);
  return text;
}

Result<void> Export::take(std::unique_ptr<Prepared> prepared) {
  const auto& text = dynamic_cast<const Text&>(*prepared);
  TRY_VOID(output_->write(text.packed));
  state_.totals.points += text.points;
  for (const Unwritten& unwritten : text.unwritten) {
    state_.totals.refused += unwritten.points;
    TRY_VOID(refused_->add(unwritten.series, unwritten.points, unwritten.reason, ""));
  }
  progress_.set(0, state_.totals);
  return {};
}

Result<void> Export::reached(const SourcePosition& position) {
  state_.position = position;
  if (steady_clock::now() - last_ < job_.checkpoint_interval) return {};
  return checkpoint();
}

Result<void> Export::checkpoint() {
  last_ = steady_clock::now();
  if (job_.checkpoint.empty()) return {};
  TRY_VOID(output_->sync());
  TRY(state_.errors_bytes, refused_->sync());
  state_.output_bytes = output_->bytes();
  return write_walk_state(job_.checkpoint, state_);
}

Result<void> Export::begin() {
  std::string text;
  ingest::make_writer(job_.format, job_.options)->header(text);
  TRY_VOID(output_->write(pack(text, job_.packing)));
  return checkpoint();
}

Result<ImportTotals> Export::finish() {
  std::string text;
  ingest::make_writer(job_.format, job_.options)->footer(text);
  TRY_VOID(output_->write(pack(text, job_.packing)));
  TRY_VOID(output_->sync());
  TRY(const std::uint64_t errors_bytes, refused_->sync());
  static_cast<void>(errors_bytes);
  if (!job_.checkpoint.empty()) TRY_VOID(remove_checkpoint(job_.checkpoint));
  return state_.totals;
}

}  // namespace

Packing packing_of(std::string_view path) {
  if (path.ends_with(".gz")) return Packing::kGzip;
  return path.ends_with(".zst") ? Packing::kZstd : Packing::kNone;
}

Result<ImportTotals> export_points(ExportJob job, const Print& err) {
  TRY(const auto lock, CheckpointLock::take(job.checkpoint));
  TRY(const std::optional<WalkState> found, begin_walk(job.checkpoint, job.task, job.resume));
  WalkState state = found.value_or(WalkState());
  TRY_VOID(check_errors_flag(job.checkpoint, state.errors, job.errors));
  state.task = job.task;
  state.errors = job.errors;
  TRY(auto output, Output::open(job.path, state.output_bytes, found.has_value()));
  TRY(auto refused, RefusedLines::open(job.errors, errors_kept(found), err));
  job.walk.from = state.position;
  Export sink(job, std::move(output), std::move(refused), state);
  if (!found) TRY_VOID(sink.begin());
  TRY_VOID(walk_source(job.source, sink, job.walk));
  return sink.finish();
}

}  // namespace halite::app
