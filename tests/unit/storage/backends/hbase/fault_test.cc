#include "storage/backends/hbase/rpc/fault.h"

#include <gtest/gtest.h>

namespace halite::storage::hbase {
namespace {

RemoteException exception(const std::string& name, const std::string& message,
                          bool do_not_retry = false) {
  const std::string class_name = "org.apache.hadoop.hbase." + name;
  RemoteException made = exception_from_text(class_name, class_name + ": " + message + "\n\tat x");
  made.do_not_retry = do_not_retry;
  return made;
}

TEST(HBaseFault, EveryKindHasItsRemedy) {
  const auto remedy = [](const std::string& name) {
    return classify(exception(name, "why"), "host:1").remedy;
  };
  EXPECT_EQ(remedy("NotServingRegionException"), Remedy::kRelocate);
  EXPECT_EQ(remedy("regionserver.WrongRegionException"), Remedy::kRelocate);
  EXPECT_EQ(remedy("exceptions.RegionOpeningException"), Remedy::kWait);
  EXPECT_EQ(remedy("RegionTooBusyException"), Remedy::kOverloaded);
  EXPECT_EQ(remedy("CallQueueTooBigException"), Remedy::kOverloaded);
  EXPECT_EQ(remedy("regionserver.RegionServerStoppedException"), Remedy::kReconnect);
  EXPECT_EQ(remedy("RetryImmediatelyException"), Remedy::kAtOnce);
  EXPECT_EQ(remedy("UnknownScannerException"), Remedy::kReopen);
  EXPECT_EQ(remedy("DoNotRetryIOException"), Remedy::kGiveUp);
  EXPECT_EQ(remedy("PleaseHoldException"), Remedy::kWait);
}

TEST(HBaseFault, WhatSurelyWasNotDoneIsTheException) {
  const auto doubtful = [](const char* name, bool do_not_retry = false) {
    RemoteException told = exception(name, "text");
    told.do_not_retry = do_not_retry;
    return classify(told, "rs1").maybe_done;
  };
  for (const char* name :
       {"io.InterruptedIOException", "regionserver.wal.WALSyncTimeoutIOException", "SomethingNew",
        "regionserver.RegionServerAbortedException"}) {
    EXPECT_TRUE(doubtful(name)) << name;
  }
  for (const char* name : {"NotServingRegionException", "RegionTooBusyException",
                           "CallQueueTooBigException", "exceptions.RegionMovedException",
                           "quotas.RpcThrottlingException", "DoNotRetryIOException"}) {
    EXPECT_FALSE(doubtful(name)) << name;
  }
  EXPECT_FALSE(doubtful("SomethingRefused", true));
}

TEST(HBaseFault, ErrorsKeepTheServersWords) {
  const Fault fault = classify(exception("TableNotFoundException", "t1"), "rs1:16020");
  EXPECT_EQ(fault.error.code, Errc::kNotFound);
  EXPECT_EQ(fault.error.message,
            "rs1:16020 says: org.apache.hadoop.hbase.TableNotFoundException: t1");
}

TEST(HBaseFault, RegionMovedSaysWhere) {
  const Fault fault = classify(exception("exceptions.RegionMovedException",
                                         "Region moved to: hostname=rs2 port=16021 "
                                         "startCode=1700000000000. As of locationSeqNum=42."),
                               "rs1:16020");
  EXPECT_EQ(fault.remedy, Remedy::kMoved);
  ASSERT_TRUE(fault.moved);
  EXPECT_EQ(fault.moved->host, "rs2");
  EXPECT_EQ(fault.moved->port, 16021);
  EXPECT_EQ(fault.moved->start_code, 1700000000000U);
  EXPECT_EQ(fault.moved->sequence, 42);
}

TEST(HBaseFault, RegionMovedWithoutAPlaceIsAskedFor) {
  for (const std::string text : {"", "hostname=", "hostname=x port=", "hostname=x port=99999999"}) {
    const Fault fault = classify(exception("exceptions.RegionMovedException", text), "rs1:16020");
    EXPECT_EQ(fault.remedy, Remedy::kRelocate) << text;
  }
}

TEST(HBaseFault, ThrottlingSaysHowLong) {
  const auto pause = [](const std::string& text) {
    return classify(exception("quotas.RpcThrottlingException", text), "x:1").pause_ms;
  };
  EXPECT_EQ(pause("number of requests exceeded - wait 1mins, 2sec, 300ms"), 62'300U);
  EXPECT_EQ(pause("write size limit exceeded - wait 40ms"), 40U);
  EXPECT_EQ(pause("- wait 9hrs, 0sec, 0ms"), 600'000U);  // ours is the upper limit
  EXPECT_EQ(pause("no idea"), 0U);
}

// Whatever the words are, in whatever language or version.
TEST(HBaseFault, RowOutsideItsRegionIsLookedUpAgainAFewTimes) {
  for (const char* text : {"Requested row out of range for doMiniBatchMutate", "Zeile fremd", ""}) {
    const Fault fault =
        classify(exception("exceptions.FailedSanityCheckException", text, true), "x:1");
    EXPECT_EQ(fault.remedy, Remedy::kRelocate) << text;
    EXPECT_EQ(fault.tries_max, 3U) << text;
    EXPECT_EQ(fault.error.code, Errc::kInvalidArgument) << text;
  }
  EXPECT_EQ(classify(exception("NotServingRegionException", ""), "x:1").tries_max, 0U);
}

TEST(HBaseFault, UnknownClassesGoByTheServersWord) {
  EXPECT_EQ(classify(exception("New", "why", true), "x:1").remedy, Remedy::kGiveUp);
  EXPECT_EQ(classify(exception("New", "why", false), "x:1").remedy, Remedy::kRelocate);
  RemoteException overloaded = exception("New", "why");
  overloaded.overloaded = true;
  EXPECT_EQ(classify(overloaded, "x:1").remedy, Remedy::kOverloaded);
}

TEST(HBaseFault, WhatMayHaveBeenDoneIsSaid) {
  EXPECT_TRUE(
      classify(exception("regionserver.wal.WALSyncTimeoutIOException", ""), "x:1").maybe_done);
  EXPECT_FALSE(classify(exception("NotServingRegionException", ""), "x:1").maybe_done);
}

}  // namespace
}  // namespace halite::storage::hbase
