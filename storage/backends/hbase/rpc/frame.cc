#include "storage/backends/hbase/rpc/frame.h"

#include <utility>

#include <fmt/format.h>

#include "common/bytes/varint.h"
#include "storage/backends/hbase/proto/rpc.pb.h"

namespace halite::storage::hbase {

namespace {

constexpr BytesView kPreamble{"HBas\0", 5};  // version 0
constexpr const char* kCodec = "org.apache.hadoop.hbase.codec.KeyValueCodec";

// From these versions on, HBase sends all cells in cellblocks, and answers say where they were
// split.
constexpr std::uint32_t kVersionMajor = 2;
constexpr std::uint32_t kVersionMinor = 6;

constexpr std::size_t kLineBytesMax = 500;  // of an exception's text that is kept

std::unexpected<Error> damaged_answer(std::string_view why) {
  return fail(Errc::kCorruption, fmt::format("answer of a region server: {}", why));
}

constexpr std::size_t kLengthBytesMax = 5;  // lengths in protobuf messages have 32 bits

// Takes a length-delimited message; `rest` becomes what follows it.
Result<BytesView> take_delimited(BytesView& rest) {
  const std::size_t before = rest.size();
  const std::optional<std::uint64_t> length = take_varint(rest);
  if (!length || before - rest.size() > kLengthBytesMax) {
    return damaged_answer("a length that does not end");
  }
  if (*length > rest.size()) {
    return damaged_answer(fmt::format("a message of {} bytes, {} are left", *length, rest.size()));
  }
  const BytesView message = rest.substr(0, *length);
  rest.remove_prefix(*length);
  return message;
}

std::string first_line(BytesView text) {
  return std::string(text.substr(0, std::min(text.find('\n'), kLineBytesMax)));
}

}  // namespace

Bytes preamble(Authentication authentication) {
  Bytes bytes(kPreamble);
  bytes.push_back(static_cast<char>(authentication));
  return bytes;
}

Bytes connection_header(std::string_view service, std::string_view user) {
  pb::ConnectionHeader header;
  if (!user.empty()) header.mutable_user_info()->set_effective_user(std::string(user));
  header.set_service_name(std::string(service));
  header.set_cell_block_codec_class(kCodec);
  pb::VersionInfo& version = *header.mutable_version_info();
  version.set_version("2.6.0");
  version.set_url("");
  version.set_revision("");
  version.set_user("");
  version.set_date("");
  version.set_src_checksum("");
  version.set_version_major(kVersionMajor);
  version.set_version_minor(kVersionMinor);

  Bytes bytes;
  append_be(bytes, static_cast<std::uint32_t>(header.ByteSizeLong()));
  header.AppendToString(&bytes);
  return bytes;
}

Bytes request_frame(const RequestHead& head, BytesView message) {
  pb::RequestHeader header;
  header.set_call_id(head.call_id);
  header.set_method_name(std::string(head.method));
  header.set_request_param(true);
  if (head.cellblock_bytes != 0) {
    header.mutable_cell_block_meta()->set_length(static_cast<std::uint32_t>(head.cellblock_bytes));
  }
  if (head.priority) header.set_priority(*head.priority);
  if (head.timeout_ms != 0) header.set_timeout(head.timeout_ms);

  Bytes frame(4, '\0');
  frame.reserve(message.size() + 128);
  append_varint(frame, header.ByteSizeLong());
  header.AppendToString(&frame);
  append_varint(frame, message.size());
  frame += message;
  Bytes length;
  append_be(length, static_cast<std::uint32_t>(frame.size() - 4 + head.cellblock_bytes));
  frame.replace(0, 4, length);
  return frame;
}

RemoteException exception_from_text(std::string class_name, BytesView text) {
  RemoteException exception;
  exception.class_name = std::move(class_name);
  exception.text = first_line(text);
  return exception;
}

Result<RpcResponse> parse_answer(BytesView frame) {
  TRY(const BytesView head, take_delimited(frame));
  pb::ResponseHeader header;
  if (!header.ParseFromArray(head.data(), static_cast<int>(head.size()))) {
    return damaged_answer("an invalid header");
  }
  RpcResponse answer;
  if (!header.has_call_id()) return damaged_answer("the call is missing");
  answer.call_id = header.call_id();
  if (header.has_exception()) {
    const pb::ExceptionResponse& sent = header.exception();
    RemoteException& exception = answer.exception.emplace();
    exception = exception_from_text(sent.exception_class_name(), sent.stack_trace());
    exception.host = sent.hostname();
    exception.port = static_cast<std::uint16_t>(sent.port());
    exception.do_not_retry = sent.do_not_retry();
    exception.overloaded = sent.server_overloaded();
    return answer;
  }
  TRY(answer.message, take_delimited(frame));
  if (frame.size() != header.cell_block_meta().length()) {
    return damaged_answer(fmt::format("{} bytes of cells announced, {} received",
                                      header.cell_block_meta().length(), frame.size()));
  }
  answer.cellblock = frame;
  return answer;
}

}  // namespace halite::storage::hbase
