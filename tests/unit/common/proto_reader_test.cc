#include "common/bytes/proto_reader.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace halite {
namespace {

Bytes hex(std::string_view text) { return from_hex(text).value(); }

// The numbers of the fields of a message, and the fault.
std::string fields(const Bytes& body) {
  ProtoFault fault;
  ProtoReader reader(body, fault);
  std::string found;
  while (reader.next()) found += std::to_string(reader.field()) + ' ';
  return found + fault.text();
}

TEST(ProtoReader, ReadsEachWireType) {
  const Bytes body =
      hex("08E807"
          "11000000000000F03F"
          "1A03616263"
          "2501020304"
          "28FFFFFFFFFFFFFFFFFF01");
  ProtoFault fault;
  ProtoReader reader(body, fault);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.field(), 1u);
  EXPECT_EQ(reader.varint(), 1000u);
  EXPECT_EQ(to_hex(reader.raw()), "08E807");
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(std::bit_cast<double>(reader.double_bits()), 1.0);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.bytes(), "abc");
  EXPECT_EQ(reader.raw(),
            "\x1A\x03"
            "abc");
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.fixed32(), 0x04030201u);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.field(), 5u);
  EXPECT_EQ(reader.int64(), -1);
  EXPECT_FALSE(reader.next());
  EXPECT_FALSE(fault);
}

TEST(ProtoReader, AnEmptyMessageHasNoFields) {
  EXPECT_EQ(fields({}), "");
  ProtoFault fault;
  ProtoReader reader(BytesView(), fault);
  EXPECT_FALSE(reader.next());
  EXPECT_FALSE(fault);
}

TEST(ProtoReader, StepsOverFieldsThatNobodyReads) {
  EXPECT_EQ(fields(hex("0801"
                       "1203616263"
                       "F8FFFFFF0F05")),
            "1 2 536870911 ");
}

TEST(ProtoReader, ReadsMessagesInMessages) {
  const Bytes body =
      hex("0A06"
          "0A02"
          "0807"
          "1005"
          "1001");
  ProtoFault fault;
  ProtoReader outer(body, fault);
  ASSERT_TRUE(outer.next());
  ProtoReader middle = outer.message();
  ASSERT_TRUE(middle.next());
  ProtoReader inner = middle.message();
  ASSERT_TRUE(inner.next());
  EXPECT_EQ(inner.varint(), 7u);
  EXPECT_FALSE(inner.next());
  ASSERT_TRUE(middle.next());
  EXPECT_EQ(middle.varint(), 5u);
  ASSERT_TRUE(outer.next());
  EXPECT_EQ(outer.varint(), 1u);
  EXPECT_FALSE(outer.next());
}

TEST(ProtoReader, AFaultInsideEndsAllReaders) {
  const Bytes body =
      hex("0A02"
          "0880"
          "1001");
  ProtoFault fault;
  ProtoReader outer(body, fault);
  ASSERT_TRUE(outer.next());
  ProtoReader inner = outer.message();
  EXPECT_FALSE(inner.next());
  EXPECT_FALSE(outer.next());
  EXPECT_EQ(fault.text(), "byte 3: field 1 is a varint that does not end");
}

TEST(ProtoReader, SaysWhereAFaultIs) {
  EXPECT_EQ(fields(hex("0801"
                       "80")),
            "1 byte 3: a field number that does not end");
  EXPECT_EQ(fields(hex("0001")), "byte 1: not the number of a field");
  EXPECT_EQ(fields(hex("808080801001")), "byte 1: not the number of a field");
  EXPECT_EQ(fields(hex("0B0C")), "byte 1: field 1 is a group or of an unknown wire type");
  EXPECT_EQ(fields(hex("0C")), "byte 1: field 1 is a group or of an unknown wire type");
  EXPECT_EQ(fields(hex("0E")), "byte 1: field 1 is a group or of an unknown wire type");
  EXPECT_EQ(fields(hex("0F")), "byte 1: field 1 is a group or of an unknown wire type");
  EXPECT_EQ(fields(hex("0AFFFFFFFFFFFFFFFFFF01")), "byte 1: field 1 is longer than its message");
  EXPECT_EQ(fields(hex("0A0261")), "byte 1: field 1 is longer than its message");
  EXPECT_EQ(fields(hex("0900000000000000")), "byte 1: field 1 is cut off");
  EXPECT_EQ(fields(hex("0D000000")), "byte 1: field 1 is cut off");
  EXPECT_EQ(fields(hex("08FFFFFFFFFFFFFFFFFF02")), "byte 1: field 1 is a varint that does not end");
}

TEST(ProtoReader, RefusesAnotherWireType) {
  const Bytes body =
      hex("1003"
          "0A00");
  ProtoFault fault;
  ProtoReader reader(body, fault);
  ASSERT_TRUE(reader.next());
  EXPECT_EQ(reader.bytes(), "");
  EXPECT_EQ(fault.text(), "byte 1: field 2 is of another wire type");
  EXPECT_EQ(reader.varint(), 0u);
  EXPECT_FALSE(reader.next());
}

TEST(ProtoReader, TakesRepeatedNumbersPackedOrNot) {
  const Bytes body =
      hex("0A0301E807"
          "0802"
          "0A00"
          "1210000000000000F03F0000000000000040"
          "11000000000000F03F");
  ProtoFault fault;
  ProtoReader reader(body, fault);
  std::vector<std::uint64_t> numbers;
  std::vector<double> doubles;
  while (reader.next()) {
    if (reader.field() == 1) {
      reader.each_varint([&](std::uint64_t number) { numbers.push_back(number); });
    } else {
      reader.each_fixed64(
          [&](std::uint64_t bits) { doubles.push_back(std::bit_cast<double>(bits)); });
    }
  }
  EXPECT_FALSE(fault);
  EXPECT_EQ(numbers, (std::vector<std::uint64_t>{1, 1000, 2}));
  EXPECT_EQ(doubles, (std::vector<double>{1, 2, 1}));
}

TEST(ProtoReader, TakesFieldsOfOneNumberAtOnce) {
  const std::string long_one = "0A8001" + std::string(std::size_t{2} * 128, '0');
  const Bytes body = hex("0A0161" + long_one + "0A00" + "0801" + "0A0162" + "120163" + "0A0164");
  ProtoFault fault;
  ProtoReader reader(body, fault);
  std::vector<std::size_t> sizes;
  std::size_t parts = 0;
  while (reader.next()) {
    if (reader.field() != 1) continue;
    const BytesView run = reader.take_run();
    sizes.push_back(run.size());
    for (ProtoReader again = reader.again(run); again.next();) ++parts;
  }
  EXPECT_FALSE(fault);
  EXPECT_EQ(sizes, (std::vector<std::size_t>{3 + 131 + 2, 2, 3, 3}));
  EXPECT_EQ(parts, 6u);
}

TEST(ProtoReader, ARunEndsBeforeAFault) {
  const auto run_of = [](const Bytes& body) {
    ProtoFault fault;
    ProtoReader reader(body, fault);
    if (!reader.next()) return fault.text();
    const BytesView run = reader.take_run();
    return to_hex(run) + (reader.next() ? " and more" : ' ' + fault.text());
  };
  EXPECT_EQ(run_of(hex("0A0161")), "0A0161 ");
  EXPECT_EQ(run_of(hex("0A01610A")), "0A0161 byte 4: field 1 is longer than its message");
  EXPECT_EQ(run_of(hex("0A01610A0261")), "0A0161 byte 4: field 1 is longer than its message");
  // Numbers of two bytes are not compared.
  EXPECT_EQ(run_of(hex("820100820100")), "820100 and more");
}

TEST(ProtoReader, RefusesPackedNumbersThatAreCutOff) {
  const auto fault_of = [](const Bytes& body) {
    ProtoFault fault;
    ProtoReader reader(body, fault);
    while (reader.next()) {
      if (reader.field() == 1) reader.each_varint([](std::uint64_t) {});
      if (reader.field() == 2) reader.each_fixed64([](std::uint64_t) {});
    }
    return fault.text();
  };
  EXPECT_EQ(fault_of(hex("0A020180")), "byte 4: field 1 has a varint that does not end");
  EXPECT_EQ(fault_of(hex("1207"
                         "00000000000000")),
            "byte 1: field 2 is packed, and no multiple of 8 bytes long");
  EXPECT_EQ(fault_of(hex("0D00000000")), "byte 1: field 1 is of another wire type");
}

TEST(ProtoReader, TheFirstFaultStays) {
  const Bytes body = hex("0801");
  ProtoFault fault;
  ProtoReader reader(body, fault);
  ASSERT_TRUE(reader.next());
  reader.refuse("is too great");
  reader.refuse("is too small");
  EXPECT_EQ(fault.text(), "byte 1: field 1 is too great");
}

}  // namespace
}  // namespace halite
