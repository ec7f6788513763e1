// A call to a fake region server and its answer, as bytes.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "common/bytes/bytes.h"
#include "common/check.h"

namespace halite::test {

struct FakeRequest {
  std::size_t server = 0;
  std::string method;
  Bytes message;
  Bytes cellblock;
};

struct FakeException {
  std::string name;  // of its class, without org.apache.hadoop.hbase.
  std::string text;
  bool do_not_retry = false;
};

struct FakeAnswer {
  Bytes message;
  Bytes cellblock;
  std::optional<FakeException> exception = {};
};

inline constexpr BytesView kFakeMeta = "hbase:meta";

template <class Message>
Message parsed(BytesView bytes) {
  Message message;
  HALITE_CHECK(message.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())),
               "a request is no such message");
  return message;
}

template <class Message>
FakeAnswer answer(const Message& message, Bytes cellblock = {}) {
  return {.message = message.SerializeAsString(), .cellblock = std::move(cellblock)};
}

inline FakeAnswer refusal(FakeException exception) {
  return {.message = {}, .cellblock = {}, .exception = std::move(exception)};
}

inline std::string table_of(BytesView region_name) {
  return std::string(region_name.substr(0, region_name.find(',')));
}

}  // namespace halite::test
