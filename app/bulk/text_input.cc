#include "app/bulk/text_input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <isa-l/igzip_lib.h>
#include <zstd.h>

namespace halite::app {
namespace {

constexpr std::size_t kPackedBytes = 1 << 20;  // read at a time
constexpr std::string_view kGzipMagic = "\x1f\x8b";
constexpr std::string_view kZstdMagic = "\x28\xb5\x2f\xfd";
constexpr std::string_view kSkippedMagic = "\x2a\x4d\x18";  // behind a byte 0x50 to 0x5F
constexpr std::size_t kMagicBytes = 4;

// The bytes as they are. The first few can be looked at before they are read.
class PlainInput final : public TextInput {
 public:
  PlainInput(std::string name, int file) : name_(std::move(name)), file_(file) {}
  ~PlainInput() override {
    if (file_ != STDIN_FILENO) ::close(file_);
  }
  PlainInput(const PlainInput&) = delete;

  Result<void> look() {
    while (seen_.size() < kMagicBytes) {
      char byte = 0;
      TRY(const std::size_t got, read_file({&byte, 1}));
      if (got == 0) break;
      seen_ += byte;
    }
    return {};
  }
  [[nodiscard]] std::string_view seen() const { return seen_; }
  [[nodiscard]] const std::string& name() const { return name_; }

  Result<std::size_t> read(std::span<char> to) override {
    if (seen_.empty()) return read_file(to);
    const std::size_t count = std::min(to.size(), seen_.size());
    std::memcpy(to.data(), seen_.data(), count);
    seen_.erase(0, count);
    return count;
  }
  [[nodiscard]] std::uint64_t bytes_read() const override { return bytes_; }

 private:
  Result<std::size_t> read_file(std::span<char> to) {
    while (true) {
      const ssize_t got = ::read(file_, to.data(), to.size());
      if (got >= 0) {
        bytes_ += static_cast<std::uint64_t>(got);
        return static_cast<std::size_t>(got);
      }
      if (errno != EINTR) {
        return fail(Errc::kUnavailable,
                    fmt::format("cannot read {}: {}", name_, std::strerror(errno)));
      }
    }
  }

  const std::string name_;
  const int file_;
  std::string seen_;
  std::uint64_t bytes_ = 0;
};

// Whether a gzip member begins here, also one of which only the first byte is left.
bool begins_gzip(std::string_view bytes) {
  return bytes.starts_with(kGzipMagic) || (!bytes.empty() && kGzipMagic.starts_with(bytes));
}

// Whether a zstd frame begins here, also one of which only the first bytes are left. Some programs
// write frames between them that are to be skipped.
bool begins_zstd(std::string_view bytes) {
  if (bytes.size() < kMagicBytes) return !bytes.empty() && kZstdMagic.starts_with(bytes);
  const bool skipped = (static_cast<unsigned char>(bytes.front()) & 0xF0U) == 0x50U &&
                       bytes.substr(1, kSkippedMagic.size()) == kSkippedMagic;
  return skipped || bytes.starts_with(kZstdMagic);
}

// Packed bytes, filled from a plain input.
class PackedBytes {
 public:
  explicit PackedBytes(std::unique_ptr<PlainInput> input)
      : input_(std::move(input)), bytes_(kPackedBytes) {}

  // The bytes that follow: at least `count`, of which there are few, or all that the file still
  // has. Valid until the next call.
  Result<std::string_view> look(std::size_t count) {
    while (end_ - begin_ < count && !ended_) {
      std::memmove(bytes_.data(), bytes_.data() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
      TRY(const std::size_t got, input_->read(std::span<char>(bytes_).subspan(end_)));
      ended_ = got == 0;
      end_ += got;
    }
    return std::string_view(bytes_.data() + begin_, end_ - begin_);
  }
  void take(std::size_t count) { begin_ += count; }

  // Between two members or frames: whether another one follows, also behind zero bytes: they are
  // padding, as for the program gzip. If not, the rest of the file is read.
  Result<bool> has_more(bool (*begins)(std::string_view bytes)) {
    while (true) {
      TRY(const std::string_view rest, look(kMagicBytes));
      if (rest.empty()) return false;
      if (!garbage_ && begins(rest)) return true;
      const std::size_t zeros = std::min(rest.find_first_not_of('\0'), rest.size());
      garbage_ = garbage_ || zeros == 0;
      take(garbage_ ? rest.size() : zeros);
    }
  }
  // Whether anything but padding follows the last member or frame.
  [[nodiscard]] bool garbage() const { return garbage_; }

  [[nodiscard]] const PlainInput& input() const { return *input_; }

  [[nodiscard]] std::unexpected<Error> damaged(std::string_view what) const {
    return fail(Errc::kCorruption, fmt::format("{}: {}", input_->name(), what));
  }
  [[nodiscard]] std::unexpected<Error> ends_early(std::string_view format) {
    truncated_ = true;
    return damaged(fmt::format("the {} data ends early: the file is truncated", format));
  }
  [[nodiscard]] bool truncated() const { return truncated_; }

 private:
  const std::unique_ptr<PlainInput> input_;
  std::vector<char> bytes_;
  std::size_t begin_ = 0;  // of what was not taken
  std::size_t end_ = 0;
  bool ended_ = false;  // the file
  bool garbage_ = false;
  bool truncated_ = false;
};

// One or more gzip members.
class GzipInput final : public TextInput {
 public:
  explicit GzipInput(std::unique_ptr<PlainInput> input) : packed_(std::move(input)) {}

  Result<std::size_t> read(std::span<char> to) override {
    const auto room = static_cast<std::uint32_t>(std::min<std::size_t>(to.size(), kPackedBytes));
    auto* const out = reinterpret_cast<std::uint8_t*>(to.data());
    state_.next_out = out;
    state_.avail_out = room;
    while (state_.avail_out == room) {
      if (!in_member_) {
        TRY(const bool more, packed_.has_more(begins_gzip));
        if (!more) return 0;
        isal_inflate_init(&state_);
        state_.crc_flag = ISAL_GZIP;
        state_.next_out = out;
        state_.avail_out = room;
        in_member_ = true;
      }
      // At the end of the file, text may still be inside of the decoder.
      TRY(const std::string_view rest, packed_.look(1));
      state_.next_in = reinterpret_cast<std::uint8_t*>(const_cast<char*>(rest.data()));
      state_.avail_in = static_cast<std::uint32_t>(rest.size());
      const int status = isal_inflate(&state_);
      packed_.take(rest.size() - state_.avail_in);
      const bool done = status == ISAL_DECOMP_OK && state_.block_state == ISAL_BLOCK_FINISH;
      if (rest.empty() && !done && state_.avail_out == room) {
        return packed_.ends_early("gzip");
      }
      if (status != ISAL_DECOMP_OK) return packed_.damaged("the gzip data is damaged");
      if (done) in_member_ = false;
    }
    return room - state_.avail_out;
  }
  [[nodiscard]] std::uint64_t bytes_read() const override { return packed_.input().bytes_read(); }
  [[nodiscard]] bool truncated() const override { return packed_.truncated(); }
  [[nodiscard]] std::string ignored() const override {
    return packed_.garbage() ? "the bytes behind the gzip data are ignored" : "";
  }

 private:
  PackedBytes packed_;
  inflate_state state_{};
  bool in_member_ = false;
};

// One or more zstd frames.
class ZstdInput final : public TextInput {
 public:
  explicit ZstdInput(std::unique_ptr<PlainInput> input)
      : packed_(std::move(input)), stream_(ZSTD_createDStream(), ZSTD_freeDStream) {}

  Result<std::size_t> read(std::span<char> to) override {
    ZSTD_outBuffer out{.dst = to.data(), .size = to.size(), .pos = 0};
    while (out.pos == 0) {
      if (!in_frame_) {
        TRY(in_frame_, packed_.has_more(begins_zstd));
        if (!in_frame_) return 0;
      }
      // At the end of the file, text may still be inside of the decoder.
      TRY(const std::string_view rest, packed_.look(1));
      ZSTD_inBuffer in{.src = rest.data(), .size = rest.size(), .pos = 0};
      const std::size_t left = ZSTD_decompressStream(stream_.get(), &out, &in);
      packed_.take(in.pos);
      const bool failed = ZSTD_isError(left) != 0;
      if (rest.empty() && (failed || left != 0) && out.pos == 0) {
        return packed_.ends_early("zstd");
      }
      if (failed) {
        return packed_.damaged(
            fmt::format("the zstd data is damaged: {}", ZSTD_getErrorName(left)));
      }
      in_frame_ = left != 0;
    }
    return out.pos;
  }
  [[nodiscard]] std::uint64_t bytes_read() const override { return packed_.input().bytes_read(); }
  [[nodiscard]] bool truncated() const override { return packed_.truncated(); }
  [[nodiscard]] std::string ignored() const override {
    return packed_.garbage() ? "the bytes behind the zstd data are ignored" : "";
  }

 private:
  PackedBytes packed_;
  const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream_;
  bool in_frame_ = false;
};

}  // namespace

Result<std::unique_ptr<TextInput>> TextInput::open(const std::string& path) {
  int file = STDIN_FILENO;
  if (path != "-") {
    file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);  // NOLINT(cppcoreguidelines-pro-type-vararg)
    if (file < 0) {
      const Errc code = errno == ENOENT ? Errc::kNotFound : Errc::kUnavailable;
      return fail(code, fmt::format("cannot read {}: {}", path, std::strerror(errno)));
    }
  }
  auto plain =
      std::make_unique<PlainInput>(path == "-" ? std::string("standard input") : path, file);
  TRY_VOID(plain->look());
  const std::string_view seen = plain->seen();
  if (seen.starts_with(kGzipMagic)) return std::make_unique<GzipInput>(std::move(plain));
  if (seen.size() == kMagicBytes && begins_zstd(seen)) {
    return std::make_unique<ZstdInput>(std::move(plain));
  }
  return plain;
}

std::uint64_t file_bytes(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return 0;
  return static_cast<std::uint64_t>(status.st_size);
}

std::uint64_t file_modified_ns(const std::string& path) {
  constexpr std::int64_t kNsPerS = 1'000'000'000;
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return 0;
  constexpr std::int64_t kSecondsMax = std::numeric_limits<std::int64_t>::max() / kNsPerS;
  const std::int64_t seconds = status.st_mtim.tv_sec;
  if (seconds < 0 || seconds >= kSecondsMax) return 0;
  return static_cast<std::uint64_t>(seconds * kNsPerS + status.st_mtim.tv_nsec);
}

}  // namespace halite::app
