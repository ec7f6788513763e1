// HBase's cells as calls carry them: KeyValueCodec and mutations, written here once more so that it
// also checks the client's. What is malformed stops the process.
#pragma once

#include <cstdint>
#include <vector>

#include "common/bytes/bytes.h"
#include "storage/backends/hbase/proto/client.pb.h"
#include "tests/support/fake_hbase_data.h"

namespace halite::test {

inline constexpr std::uint8_t kPutType = 4;                       // of a cell
inline constexpr std::uint8_t kDeleteVersionType = 8;             // of one version of it
inline constexpr std::uint64_t kLatestTime = 0x7FFFFFFFFFFFFFFF;  // the server's own, then

// As a put, at the end of a cellblock.
void append_cell(Bytes& to, const FakeCell& cell);

struct FakeChange {
  FakeCell cell;
  std::uint8_t kind = kPutType;  // or one of the kinds of deletes
};

// From the cellblock, whose front they leave, or from the message itself.
std::vector<FakeChange> changes_of(const storage::hbase::pb::MutationProto& mutation,
                                   BytesView& cellblock);

}  // namespace halite::test
