// Samples as senders write them. Private to ingest/remote_write.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "common/bytes/bytes.h"
#include "common/bytes/little_endian.h"
#include "common/bytes/varint.h"
#include "ingest/remote_write/remote_write_body.h"

namespace halite::ingest {

// The field of a series that is a sample, in both versions.
inline constexpr std::uint32_t kSampleField = 2;

// Moves samples from the front of a series' fields to `to`: those of two fields, the value first.
// Stops before the first other field; it may be a sample of another form.
inline void take_plain_samples(BytesView& fields, std::vector<RemoteSample>& to) {
  constexpr char kSample = kSampleField << 3 | static_cast<char>(ProtoWire::kBytes);
  constexpr std::size_t kValueEnd = 9;  // a byte of the field, eight of the double
  while (fields.size() > 2 && fields[0] == kSample) {
    const auto size = static_cast<std::size_t>(static_cast<unsigned char>(fields[1]));
    if (size < kValueEnd + 2 || size >= 0x80 || fields.size() < 2 + size) return;
    const BytesView sample = fields.substr(2, size);
    if (sample[0] != 0x09 || sample[kValueEnd] != 0x10) return;
    BytesView time = sample.substr(kValueEnd + 1);
    const auto ms = take_varint(time);
    if (!ms || !time.empty()) return;
    to.push_back(
        {.value = load_le<std::uint64_t>(sample.data() + 1), .ms = static_cast<std::int64_t>(*ms)});
    fields.remove_prefix(2 + size);
  }
}

}  // namespace halite::ingest
