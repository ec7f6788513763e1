#include "web/handlers/xor_chunk.h"

#include <bit>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace halite::web {
namespace {

using Samples = std::vector<std::pair<TimestampMs, double>>;

std::string chunk_of(const Samples& samples) {
  XorChunk chunk;
  for (const auto& [time, value] : samples) {
    chunk.append(time, std::bit_cast<ValueBits>(value));
  }
  EXPECT_EQ(chunk.size(), samples.size());
  EXPECT_EQ(chunk.first(), samples.front().first);
  EXPECT_EQ(chunk.last(), samples.back().first);
  std::string hex;
  for (const char byte : chunk.bytes())
    hex += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return hex;
}

// The bytes are those of chunkenc.NewXORChunk() of Prometheus 3.14.

TEST(XorChunkTest, FirstSamples) {
  EXPECT_EQ(chunk_of({{1700000000000, 1}}), "000180a0abfef9623ff0000000000000");
  EXPECT_EQ(chunk_of({{-5, 2.5}}), "0001094004000000000000");
  EXPECT_EQ(chunk_of({{1700000000000, 1}, {1700000015000, 1}}),
            "000280a0abfef9623ff0000000000000987500");
}

TEST(XorChunkTest, Values) {
  const auto stale = std::bit_cast<double>(kStaleMarker);
  EXPECT_EQ(
      chunk_of({{0, 0},
                {1000, 12},
                {2000, 24},
                {3000, 24},
                {4000, 15.5},
                {5000, -1.25},
                {6000, stale},
                {7000, std::numeric_limits<double>::infinity()},
                {8000, -0.0},
                {9000, 1e-300},
                {10000, 12}}),
      "000b000000000000000000e807c26402a0021ac5bb021ffb6c1fe002000000000001400000000000000057ff"
      "800000000000060020695b87f0be3cd6520c6b70fe17c79ac8");
}

TEST(XorChunkTest, TimesAtTheLimitsOfEachSize) {
  TimestampMs time = 1600000000000;
  TimestampMs distance = 1 << 30;
  Samples samples = {{time, 1}};
  time += distance;
  samples.emplace_back(time, 2);
  for (const TimestampMs change : {0, 8192, -8191, 8193, -8192, 65536, -65535, 65537, -65536,
                                   524288, -524287, 524289, -524288, 1}) {
    distance += change;
    time += distance;
    samples.emplace_back(time, 2);
  }
  EXPECT_EQ(
      chunk_of(samples),
      "00108080f4f6905d3ff00000000000008080808004c25fff280014002c20016f000340001a0002e10001778000"
      "3a00001d00002f00000000000800017fffffffffffc000020004");
}

TEST(XorChunkTest, FullChunk) {
  std::uint64_t random = 88172645463325252;
  TimestampMs time = 1700000000000;
  Samples samples;
  for (std::size_t i = 0; i < XorChunk::kSamplesMax; ++i) {
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    time += 1 + static_cast<TimestampMs>(random % 20'000);
    auto value = static_cast<double>(i);
    if (i % 3 == 1) {
      value = std::bit_cast<double>(random);
      if (std::isnan(value)) value = 1;
    }
    if (i % 3 == 2) value = static_cast<double>(random % 1000) / 10;
    samples.emplace_back(time, value);
  }
  EXPECT_EQ(chunk_of(samples),
            "0078a2c1adfef96200000000000000009c79c5f5466e6af5c598b371dab87cd41880c93a3fed5ddef5d5"
            "b6e6666666666676c1b8bdc754244c9c5a1ecd525d8c7d8455f478f14c3874804ab9999999999b0d4d80"
            "0a85d105ed8c77cb7dcff7aa02d7248502ec1ea7c0e006c4ccccccccccd8554af9ffbfa71584221685be"
            "be7d232509adc448c286f80023333333333337711e2dff6d21c82caf2bb8f03b7f42d1eb92b25376193e"
            "00206666666666668646904367fcb1281a9ce3b5241359ff2c4a06a73a84480090000000000002b642b9"
            "a3db0c819b315bc2a3eae633a0fecaa009a2ed0600283333333333338c57a8dbf19d1c730e6c6fc46a30"
            "9b54742ff0a82ddd17801adccccccccccce2cced7bf6671a300714cbc42b5f5699c68c01c5326d760069"
            "c00000000000dd7dc8a150cc9a813f261ecf36282effea6c83054a8a67801ff333333333336443a1b1cf"
            "45380f3cf69ba2e86dd2514e03cf3da61b6e0016e000000000008f558f608ba53936fe59e2e3a3d8808f"
            "282bd9f01aac68002299999999999aad6636524a9e26b7f794b5079270de6b45613129e361a7f90b3333"
            "33333338ea8a4848902808ae6e264bd6924da40a022b9b89dc665801640000000000030acba55e8a4e53"
            "975b45186c89562cf5f283b0b72f7615a006019999999999ac41dda48eebf78d25d8532f50a925ab647a"
            "d0ef8d6a3c9801be66666666666a68c2ddc5bb3a5bde4347dbf9ab76ac8a8f091f6b761272006f199999"
            "99999ac2af1a2b5352f539e2603a2c428abacd24d7e10194bbed801b266666666666a1a52bfd3837fda2"
            "a5bdfdbcc9aff4c6b990ecf09162e46000719999999999ac3a37bfbce24a7d06a88c373092fe930929f4"
            "1aa230bb0e801880000000000030aff2a5f4a16ee5b5419ea5bfa97f81c220f4c9fe2ad1e000b2666666"
            "66666b949b1a493a41b2336d365b3ac6eb7da35fbfe87eb75d80198ccccccccccce2672d0b13c8ba22d3"
            "294969db436cf22e88b4ca52bd66006bc00000000000bfd2bccffc72a963b9f7220def37928533c177e4"
            "6bc168011666666666666b77fce71f5445bdf8bcb5cc344e9c67ddda3b2e3e1bebdce006af3333333333"
            "3922c83e76c84afaff7626eca60f8b9474d8d9bbefb6a08005d99999999999a065af9b1299fdb7b2948d"
            "d872be77d954c5edf96171101a00698ccccccccccdb4fd8fde8a442f7a8fff61a163f6270892473a667b"
            "5298006466666666666a322abe9be737556609f5bc71afbbf50119954eb1b6ecc60074f33333333333c2"
            "cce83282820478d19716d5260cc6ac4dd2f8a908844880195333333333336aba2e6f0e9d1baba633e9d3"
            "ab9b929475d9dabfce324200158ccccccccccd8d5c999f55598aca62512bfca667c99aae7e54589bb4a8"
            "003a33333333333775e6654813f0c55095499c3d379536830fd98e99eab70c82005bf33333333333988d"
            "9ed554da226c42976ff327b5d405bba82396e850e800254cccccccccce3ec6243c7271027abfa892af89"
            "0db7af73ad9cd96a57e00096ccccccccccd84c0a054154b5c72cfc5b73eca815e8cb4e852a68c9889800"
            "3e66666666666a3ae6b5e1d73c74be6d8addaa7ad6166fc2e1ca851e561600648ccccccccccd94cf8402"
            "521bdc5a72316e93e1003c4a3bda504088f0c80037333333333336c3e23c374b08155fac3889a88f16c1"
            "f13664d83d772cea006d8ccccccccccdc473ab33328bf8501068d36ed32ccaf849872627c520");
}

}  // namespace
}  // namespace halite::web
