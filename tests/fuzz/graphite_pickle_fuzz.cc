// Messages of carbon's pickle protocol. The first byte chooses the limits: with small ones they are
// reached.
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/check.h"
#include "ingest/graphite/pickle.h"

namespace halite::ingest {
namespace {

class Checked final : public PointReceiver {
 public:
  explicit Checked(const PickleBody& body) : body_(body) {}

  void part(std::uint32_t number) override {
    HALITE_CHECK(number == part_ + 1, "parts are counted");
    part_ = number;
  }
  void series(const SeriesKey& key) override {
    const auto name = body_.series_name(key);
    HALITE_CHECK(name ? !name->metric.empty() : !name.error().text.empty(), "a name or a reason");
  }
  void point(PointBits point) override {
    HALITE_CHECK(point.time >= 0 && point.time <= kTimestampMax, "a time in the range");
    HALITE_CHECK((point.flags & kFloat) != 0, "a double");
  }
  void refuse(std::string reason) override {
    HALITE_CHECK(!reason.empty(), "a refusal has a reason");
  }

 private:
  const PickleBody& body_;
  std::uint32_t part_ = 0;
};

void check_message(std::uint8_t choice, std::string_view message) {
  FormatOptions options;
  if (choice % 2 != 0) options.default_time = 1'700'000'000'000;
  PickleLimits limits;
  if (choice >= 128) limits = {.stack_max = 8, .memo_max = 8, .items_max = 16, .depth_max = 3};
  PickleBody body(message, options, {.tags_max = 8, .name_bytes_max = 64}, limits);
  Checked checked(body);
  if (const auto read = body.read(checked); !read) {
    HALITE_CHECK(read.error().code == Errc::kInvalidArgument, "the sender's fault");
  }
}

}  // namespace

void check_graphite_pickle(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return;
  check_message(data[0], {reinterpret_cast<const char*>(data + 1), size - 1});
}

}  // namespace halite::ingest

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  halite::ingest::check_graphite_pickle(data, size);
  return 0;
}
