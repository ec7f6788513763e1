#include "storage/tsdb/maintenance/cpu_share.h"

#include <ctime>

#include <gtest/gtest.h>

namespace halite::storage::engine {
namespace {

std::int64_t thread_cpu_ms() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return time.tv_sec * 1000 + time.tv_nsec / 1'000'000;
}

void work_for(std::int64_t ms) {
  const std::int64_t end = thread_cpu_ms() + ms;
  while (thread_cpu_ms() < end) {
  }
}

TEST(CpuShare, AllOfACoreOwesNothing) {
  const CpuShare share(CpuShare::kAll);
  work_for(50);
  EXPECT_EQ(share.owed().count(), 0);
}

TEST(CpuShare, WhatWasWorkedIsOwedManyTimes) {
  const CpuShare share(1);
  work_for(50);
  EXPECT_GE(share.owed().count(), 1000);
}

TEST(CpuShare, OtherWorkIsNotOwed) {
  CpuShare share(1);
  {
    const CpuShare::Aside aside(share);
    work_for(100);
  }
  EXPECT_LT(share.owed().count(), 1000);  // 10 s else
  work_for(50);
  EXPECT_GE(share.owed().count(), 1000);
}

}  // namespace
}  // namespace halite::storage::engine
