#include "storage/tsdb/maintenance/cpu_throttle.h"

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

TEST(CpuThrottle, AllOfACoreOwesNothing) {
  const CpuThrottle share(CpuThrottle::kAll);
  work_for(50);
  EXPECT_EQ(share.pause_due().count(), 0);
}

TEST(CpuThrottle, WhatWasWorkedIsOwedManyTimes) {
  const CpuThrottle share(1);
  work_for(50);
  EXPECT_GE(share.pause_due().count(), 1000);
}

TEST(CpuThrottle, OtherWorkIsNotOwed) {
  CpuThrottle share(1);
  {
    const CpuThrottle::Excluded aside(share);
    work_for(100);
  }
  EXPECT_LT(share.pause_due().count(), 1000);  // 10 s else
  work_for(50);
  EXPECT_GE(share.pause_due().count(), 1000);
}

}  // namespace
}  // namespace halite::storage::engine
