// WebHDFS against NameNodes and a DataNode that fail, redirect and lose parts.
#include "storage/backends/hbase/bulk_load/web_hdfs.h"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/fake_web_hdfs.h"
#include "tests/support/run_task.h"

namespace halite::storage::hbase {
namespace {

using test::FakeWebCall;
using test::FakeWebHdfs;
using test::FakeWebReaction;
using test::run_task;
using testing::HasSubstr;
using Files = std::map<std::string, std::string>;

class WebHdfsTest : public testing::Test {
 protected:
  void SetUp() override {
    directory_ =
        make_web_hdfs({{"127.0.0.1", hdfs_.port(0)}, {"127.0.0.1", hdfs_.port(1)}}, "/loads/a b",
                      {.user = "halite", .hosts = {}, .timeout_ms = 5'000, .pause_ms = 1});
  }

  static Task<void> write_file(LoadDirectory& directory, std::string path,
                               std::vector<Bytes> pieces) {
    CO_TRY(const auto file, co_await directory.create(std::move(path)));
    for (Bytes& piece : pieces) CO_TRY_VOID(co_await file->write(std::move(piece)));
    co_return co_await file->finish();
  }
  Result<void> write(std::vector<Bytes> pieces) {
    return run_task(write_file(*directory_, kPath, std::move(pieces)));
  }

  // Reacts so to the first calls of this operation.
  void react(std::string operation, FakeWebReaction::What what, std::size_t times = 1) {
    const std::size_t until = hdfs_.calls(operation) + times;
    hdfs_.script([=](const FakeWebCall& call) -> FakeWebReaction {
      if (call.operation == operation && call.number <= until) return {.what = what};
      return {};
    });
  }

  static inline const std::string kPath = "/loads/a b/t/file";
  FakeWebHdfs hdfs_;
  std::unique_ptr<LoadDirectory> directory_;
};

TEST_F(WebHdfsTest, AFileIsUploadedInPieces) {
  ASSERT_TRUE(run_task(directory_->make("t")));
  const Bytes large(300'000, 'x');
  const Result<void> written = write({"one ", "", large});
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(hdfs_.files(), (Files{{kPath, "one " + large}}));
  EXPECT_EQ(hdfs_.calls("upload"), 1U);
  const std::vector<std::string> targets = hdfs_.targets();
  EXPECT_EQ(targets.front(), "/webhdfs/v1/loads/a%20b/t?op=MKDIRS&permission=777&user.name=halite");
  EXPECT_TRUE(std::ranges::all_of(
      targets, [](const std::string& target) { return target.contains("user.name=halite"); }));
  EXPECT_TRUE(write({"again"}).error().message.contains("5 bytes"));  // the name is taken
  EXPECT_TRUE(run_task(directory_->exists(kPath)).value());
  EXPECT_FALSE(run_task(directory_->exists("/loads/no")).value());
  ASSERT_TRUE(run_task(directory_->remove(kPath)));
  EXPECT_TRUE(hdfs_.files().empty());  // also what was not finished
  EXPECT_TRUE(run_task(directory_->remove(kPath)));
}

TEST_F(WebHdfsTest, AStandbyIsLeftForTheOther) {
  hdfs_.script([](const FakeWebCall& call) -> FakeWebReaction {
    if (call.server == 0) return {.what = FakeWebReaction::kStandby};
    return {};
  });
  ASSERT_TRUE(write({"x"}));
  ASSERT_TRUE(run_task(directory_->make("t")));
  // It asks the standby once.
  EXPECT_EQ(hdfs_.calls("CREATE"), 2U);
  EXPECT_EQ(hdfs_.calls("RENAME"), 1U);
}

TEST_F(WebHdfsTest, RequestsAreRepeated) {
  for (const auto what : {FakeWebReaction::kStandby, FakeWebReaction::kRetriable,
                          FakeWebReaction::kClose, FakeWebReaction::kFail}) {
    for (const char* operation : {"CREATE", "GETFILESTATUS", "RENAME"}) {
      ASSERT_TRUE(run_task(directory_->remove(kPath)));
      react(operation, what, 3);
      const Result<void> written = write({"x"});
      ASSERT_TRUE(written) << operation << int{what} << ": " << written.error().message;
      EXPECT_EQ(hdfs_.files(), (Files{{kPath, "x"}}));
    }
  }
  // The answer to a rename was lost.
  ASSERT_TRUE(run_task(directory_->remove(kPath)));
  react("RENAME", FakeWebReaction::kCloseDone);
  const Result<void> written = write({"x"});
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(hdfs_.files(), (Files{{kPath, "x"}}));
  // Not for ever.
  react("CREATE", FakeWebReaction::kFail, 1000);
  const Result<void> failed = write({"x"});
  EXPECT_EQ(failed.error().code, Errc::kUnavailable);
  EXPECT_THAT(failed.error().message,
              HasSubstr("answered 500 to CREATE of /loads/a b/t/_file.tmp"));
  EXPECT_THAT(failed.error().message, HasSubstr("out of order"));
}

TEST_F(WebHdfsTest, ABrokenUploadGetsNoName) {
  for (const auto what : {FakeWebReaction::kTruncate, FakeWebReaction::kClose,
                          FakeWebReaction::kFail, FakeWebReaction::kForbidden}) {
    react("upload", what);
    const Result<void> failed = write({"some bytes"});
    ASSERT_FALSE(failed) << int{what};
    EXPECT_EQ(failed.error().code, Errc::kUnavailable);
    EXPECT_FALSE(hdfs_.files().contains(kPath));
  }
  react("upload", FakeWebReaction::kTruncate);
  EXPECT_EQ(write({"some bytes"}).error().message,
            "10 bytes were written to /loads/a b/t/_file.tmp in HDFS, which has 5");
  EXPECT_TRUE(write({"some bytes"}));  // from the beginning
}

TEST_F(WebHdfsTest, ErrorsSayWhatIsWrong) {
  react("MKDIRS", FakeWebReaction::kForbidden);
  const Result<void> forbidden = run_task(directory_->make("t"));
  EXPECT_EQ(forbidden.error().code, Errc::kForbidden);
  EXPECT_THAT(forbidden.error().message,
              HasSubstr("MKDIRS of /loads/a b/t: AccessControlException: told to"));
  react("MKDIRS", FakeWebReaction::kFalse);
  EXPECT_THAT(run_task(directory_->make("t")).error().message, HasSubstr("/loads/a b/t"));
  react("MKDIRS", FakeWebReaction::kNonsense);
  EXPECT_THAT(run_task(directory_->make("t")).error().message, HasSubstr("\"nonsense\""));
  react("CREATE", FakeWebReaction::kNonsense);
  EXPECT_THAT(write({"x"}).error().message, HasSubstr("redirects to \"\""));
  react("GETFILESTATUS", FakeWebReaction::kNonsense);
  EXPECT_THAT(write({"x"}).error().message, HasSubstr("how long"));
  react("RENAME", FakeWebReaction::kFalse);
  EXPECT_THAT(write({"x"}).error().message, HasSubstr("no such file"));
  EXPECT_FALSE(run_task(directory_->rename("/loads/no", "/loads/x")).value());
}

TEST_F(WebHdfsTest, DataNodesMayHaveOtherAddresses) {
  hdfs_.set_data_node("datanode7.invalid");
  EXPECT_EQ(write({"x"}).error().code, Errc::kUnavailable);
  directory_ = make_web_hdfs({{"namenode.invalid", hdfs_.port(0)}}, "/d",
                             {.user = "a&b",
                              .hosts = {{"datanode7.invalid", {"127.0.0.1", 0}},
                                        {"namenode.invalid", {"127.0.0.1", hdfs_.port(0)}}},
                              .timeout_ms = 5'000,
                              .pause_ms = 1});
  const Result<void> written = write({"x"});
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_THAT(hdfs_.targets().back(), HasSubstr("user.name=a%26b"));
}

}  // namespace
}  // namespace halite::storage::hbase
