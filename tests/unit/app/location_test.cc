#include "app/bulk/location.h"

#include <gtest/gtest.h>

namespace halite::app {
namespace {

using Settings = std::vector<std::string>;

TEST(LocationTest, IsAServer) {
  for (const char* const url : {"http://tsdb:4242", "https://[::1]:4242/prefix"}) {
    const auto location = parse_location(url);
    ASSERT_TRUE(location) << location.error().message;
    EXPECT_EQ(location->url, url);
    EXPECT_EQ(location->settings, Settings());
  }
}

TEST(LocationTest, IsHBase) {
  EXPECT_EQ(parse_location("hbase://zk1:2181,zk2/hbase/one")->settings,
            (Settings{"store=hbase", "hbase.quorum=zk1:2181,zk2", "hbase.root=/hbase/one"}));
  EXPECT_EQ(parse_location("hbase://zk1")->settings, (Settings{"store=hbase", "hbase.quorum=zk1"}));
  EXPECT_EQ(parse_location("hbase://zk1")->url, "");
}

TEST(LocationTest, IsADirectory) {
  for (const char* const path : {"/var/lib/halite", "data", "data/", "/", "http", "./http:/x",
                                 "hbase:x", "./localhost:4242", "a:1/b"}) {
    const auto location = parse_location(path);
    ASSERT_TRUE(location) << location.error().message;
    EXPECT_EQ(location->url, "");
    // Also where the settings of both sides name another store.
    EXPECT_EQ(location->settings, (Settings{"store=engine", std::string("data_dir=") + path}));
  }
}

TEST(LocationTest, IsNone) {
  for (const char* const text : {"", "hbase://", "hbase:///hbase", "ftp://x/y", "file:///x",
                                 "HTTP://x", "localhost:4242", "localhost:4242/", "[::1]:4242//"}) {
    const auto location = parse_location(text);
    ASSERT_FALSE(location) << text;
    EXPECT_EQ(location.error().code, Errc::kInvalidArgument);
    EXPECT_FALSE(location.error().message.empty());
  }
}

}  // namespace
}  // namespace halite::app
