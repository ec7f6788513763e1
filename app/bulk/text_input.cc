#include "app/bulk/text_input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
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

// Packed bytes, filled from a plain input.
class PackedBytes {
 public:
  explicit PackedBytes(std::unique_ptr<PlainInput> input)
      : input_(std::move(input)), bytes_(kPackedBytes) {}

  // False at the end of the file.
  Result<bool> fill() {
    TRY(size_, input_->read(bytes_));
    return size_ > 0;
  }
  [[nodiscard]] char* data() { return bytes_.data(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const PlainInput& input() const { return *input_; }

  [[nodiscard]] std::unexpected<Error> damaged(std::string_view what) const {
    return fail(Errc::kCorruption, fmt::format("{}: {}", input_->name(), what));
  }

 private:
  const std::unique_ptr<PlainInput> input_;
  std::vector<char> bytes_;
  std::size_t size_ = 0;
};

// One or more gzip members.
class GzipInput final : public TextInput {
 public:
  explicit GzipInput(std::unique_ptr<PlainInput> input) : packed_(std::move(input)) { begin(); }

  Result<std::size_t> read(std::span<char> to) override {
    state_.next_out = reinterpret_cast<std::uint8_t*>(to.data());
    state_.avail_out = static_cast<std::uint32_t>(std::min<std::size_t>(to.size(), kPackedBytes));
    const std::uint32_t room = state_.avail_out;
    while (state_.avail_out == room) {
      if (state_.avail_in == 0) {
        TRY(const bool more, packed_.fill());
        if (!more && !in_member_) return 0;
        if (!more) return packed_.damaged("the gzip data ends early");
        state_.next_in = reinterpret_cast<std::uint8_t*>(packed_.data());
        state_.avail_in = static_cast<std::uint32_t>(packed_.size());
      }
      in_member_ = true;
      if (isal_inflate(&state_) != ISAL_DECOMP_OK) {
        return packed_.damaged("the gzip data is damaged");
      }
      if (state_.block_state == ISAL_BLOCK_FINISH) next_member();
    }
    return room - state_.avail_out;
  }
  [[nodiscard]] std::uint64_t bytes_read() const override { return packed_.input().bytes_read(); }

 private:
  void begin() {
    isal_inflate_init(&state_);
    state_.crc_flag = ISAL_GZIP;
    in_member_ = false;
  }
  void next_member() {
    const auto in = std::pair(state_.next_in, state_.avail_in);
    const auto out = std::pair(state_.next_out, state_.avail_out);
    begin();
    std::tie(state_.next_in, state_.avail_in) = in;
    std::tie(state_.next_out, state_.avail_out) = out;
  }

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
      if (in_.pos == in_.size && !pending_) {
        TRY(const bool more, packed_.fill());
        if (!more && !in_frame_) return 0;
        if (!more) return packed_.damaged("the zstd data ends early");
        in_ = {.src = packed_.data(), .size = packed_.size(), .pos = 0};
      }
      const std::size_t left = ZSTD_decompressStream(stream_.get(), &out, &in_);
      if (ZSTD_isError(left) != 0) {
        return packed_.damaged(
            fmt::format("the zstd data is damaged: {}", ZSTD_getErrorName(left)));
      }
      in_frame_ = left != 0;
      pending_ = out.pos == out.size && in_frame_;  // more may be left inside the stream
    }
    return out.pos;
  }
  [[nodiscard]] std::uint64_t bytes_read() const override { return packed_.input().bytes_read(); }

 private:
  PackedBytes packed_;
  const std::unique_ptr<ZSTD_DStream, decltype(&ZSTD_freeDStream)> stream_;
  ZSTD_inBuffer in_{};
  bool in_frame_ = false;
  bool pending_ = false;
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
  if (seen.starts_with(kZstdMagic)) return std::make_unique<ZstdInput>(std::move(plain));
  return plain;
}

std::uint64_t file_bytes(const std::string& path) {
  struct stat status{};
  if (::stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return 0;
  return static_cast<std::uint64_t>(status.st_size);
}

}  // namespace halite::app
