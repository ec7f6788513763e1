#include "tests/support/fake_frames.h"

#include <cstdint>

#include "common/bytes/varint.h"
#include "common/check.h"
#include "storage/backends/hbase/proto/rpc.pb.h"

namespace halite::test {

namespace pb = storage::hbase::pb;

namespace {

void append_delimited(Bytes& to, const Bytes& message) {
  append_varint(to, message.size());
  to += message;
}

}  // namespace

BytesView take_delimited(BytesView& from) {
  const std::optional<std::uint64_t> length = take_varint(from);
  HALITE_CHECK(length && *length <= from.size(), "a frame is too short");
  const BytesView taken = from.substr(0, *length);
  from.remove_prefix(*length);
  return taken;
}

Bytes framed_answer(std::uint32_t call_id, const FakeAnswer& answer) {
  pb::ResponseHeader header;
  header.set_call_id(call_id);
  Bytes body;
  if (answer.exception) {
    pb::ExceptionResponse& exception = *header.mutable_exception();
    exception.set_exception_class_name("org.apache.hadoop.hbase." + answer.exception->name);
    exception.set_stack_trace(exception.exception_class_name() + ": " + answer.exception->text +
                              "\n\tat fake.Server");
    exception.set_do_not_retry(answer.exception->do_not_retry);
  } else {
    if (!answer.cellblock.empty()) {
      header.mutable_cell_block_meta()->set_length(
          static_cast<std::uint32_t>(answer.cellblock.size()));
    }
    append_delimited(body, answer.message);
    body += answer.cellblock;
  }
  Bytes head;
  append_delimited(head, header.SerializeAsString());
  Bytes bytes;
  append_be(bytes, static_cast<std::uint32_t>(head.size() + body.size()));
  return bytes + head + body;
}

}  // namespace halite::test
