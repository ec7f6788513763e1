#include "storage/backends/hbase/rpc/frame.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/backends/hbase/proto/rpc.pb.h"

namespace halite::storage::hbase {
namespace {

using namespace std::string_literals;

// The length of a message, one byte long, and the message.
Bytes delimited(const Bytes& message) {
  return Bytes(1, static_cast<char>(message.size())) + message;
}

Bytes answer_frame(const pb::ResponseHeader& header, const Bytes& rest) {
  return delimited(header.SerializeAsString()) + rest;
}

TEST(HBaseFrame, GreetingBeginsWithThePreamble) {
  const Bytes bytes =
      preamble(Authentication::kSimple) + connection_header("ClientService", "anna");
  ASSERT_GT(bytes.size(), 10U);
  EXPECT_EQ(to_hex(bytes.substr(0, 6)), "484261730050");
  EXPECT_EQ(load_be<std::uint32_t>(bytes.data() + 6), bytes.size() - 10);
  pb::ConnectionHeader header;
  ASSERT_TRUE(header.ParseFromString(bytes.substr(10)));
  EXPECT_EQ(header.user_info().effective_user(), "anna");
  EXPECT_EQ(header.service_name(), "ClientService");
  EXPECT_EQ(header.cell_block_codec_class(), "org.apache.hadoop.hbase.codec.KeyValueCodec");
  EXPECT_EQ(header.version_info().version_major(), 2U);
  EXPECT_EQ(header.version_info().version_minor(), 6U);
  EXPECT_TRUE(header.version_info().has_src_checksum());  // HBase insists on all of them
}

TEST(HBaseFrame, RequestCountsItsCellblock) {
  const Bytes frame = request_frame(
      {.call_id = 7, .method = "Get", .timeout_ms = 1000, .priority = 200, .cellblock_bytes = 3},
      "ab");
  EXPECT_EQ(to_hex(frame),
            "0000001A"    // 23 bytes of head and message, 3 of cells
            "13"          // the header
            "0807"        // call
            "1A03476574"  // method
            "2001"        // a message follows
            "2A020803"    // cells follow
            "30C801"      // priority
            "38E807"      // timeout
            "026162");    // the message
}

TEST(HBaseFrame, EmptyMessageIsStillThere) {
  const Bytes frame = request_frame({.call_id = 1, .method = "Get", .priority = {}}, "");
  EXPECT_EQ(to_hex(frame),
            "0000000B"
            "09"
            "0801"
            "1A03476574"
            "2001"
            "00");
}

TEST(HBaseFrame, ALengthHasAtMostFiveBytes) {
  pb::ResponseHeader header;
  header.set_call_id(9);
  const Bytes head = header.SerializeAsString();
  ASSERT_EQ(head.size(), 2U);
  const Bytes rest = head + "\0"s;  // and an empty message
  EXPECT_TRUE(parse_answer("\x82\x80\x80\x80\x00"s + rest));
  const Result<RpcResponse> longer = parse_answer("\x82\x80\x80\x80\x80\x00"s + rest);
  ASSERT_FALSE(longer);
  EXPECT_EQ(longer.error().code, Errc::kCorruption);
}

TEST(HBaseFrame, AnswerHasMessageAndCells) {
  pb::ResponseHeader header;
  header.set_call_id(9);
  header.mutable_cell_block_meta()->set_length(4);
  const Bytes frame = answer_frame(header, "\x02okcell"s);
  const Result<RpcResponse> answer = parse_answer(frame);
  ASSERT_TRUE(answer) << answer.error().message;
  EXPECT_EQ(answer->call_id, 9U);
  EXPECT_FALSE(answer->exception);
  EXPECT_EQ(answer->message, "ok");
  EXPECT_EQ(answer->cellblock, "cell");
}

TEST(HBaseFrame, AnswerMayBeAnException) {
  pb::ResponseHeader header;
  header.set_call_id(9);
  header.mutable_exception()->set_exception_class_name("org.x.Y");
  header.mutable_exception()->set_stack_trace("org.x.Y: no\n\tat somewhere");
  header.mutable_exception()->set_do_not_retry(true);
  const Bytes frame = answer_frame(header, "");
  const Result<RpcResponse> answer = parse_answer(frame);
  ASSERT_TRUE(answer);
  ASSERT_TRUE(answer->exception);
  EXPECT_EQ(answer->exception->class_name, "org.x.Y");
  EXPECT_EQ(answer->exception->text, "org.x.Y: no");
  EXPECT_TRUE(answer->exception->do_not_retry);
}

TEST(HBaseFrame, AnswersThatContradictThemselvesAreSeen) {
  pb::ResponseHeader header;
  header.set_call_id(9);
  header.mutable_cell_block_meta()->set_length(4);
  const Bytes whole = answer_frame(header, "\x02okcell"s);
  for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
    EXPECT_FALSE(parse_answer(BytesView(whole).substr(0, bytes))) << bytes;
  }
  EXPECT_FALSE(parse_answer(whole + "x"));
  EXPECT_FALSE(parse_answer("\xFF\xFF\xFF\xFF\xFF\xFF"));     // a length without an end
  EXPECT_FALSE(parse_answer("\x01\x07rest"));                 // no header
  EXPECT_FALSE(parse_answer(delimited("") + delimited("")));  // no call
}

}  // namespace
}  // namespace halite::storage::hbase
