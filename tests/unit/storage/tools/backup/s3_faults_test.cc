// An S3 store that fails: what is repeated, what is not, and what the errors say.
#include <atomic>
#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "storage/files/posix_files.h"
#include "storage/tools/backup/repository.h"
#include "storage/tools/backup/s3/s3_store.h"
#include "tests/support/fake_s3.h"

namespace halite::storage::backup {
namespace {

using test::FakeS3Call;
using test::FakeS3Reaction;
using testing::HasSubstr;

class S3Faults : public testing::Test {
 protected:
  std::unique_ptr<S3Store> store(const std::function<void(S3Options&)>& change = {}) {
    S3Options options = s3_.options("p");
    if (change) change(options);
    return S3Store::make(options).value();
  }
  static Result<void> write(BackupStore& store, const Bytes& bytes) {
    return write(store, "files/x", bytes);
  }
  static Result<void> write(BackupStore& store, const std::string& name, const Bytes& bytes) {
    TRY(const auto writer, store.create({.name = name, .bytes = bytes.size()}));
    TRY_VOID(writer->append(bytes));
    return writer->finish();
  }
  static Result<Bytes> read(BackupStore& store, std::uint64_t size) {
    Bytes bytes;
    const auto take = [&bytes](BytesView more) {
      bytes += more;
      return Result<void>();
    };
    TRY_VOID(store.read({.name = "files/x", .bytes = size}, take));
    return bytes;
  }
  // Every second request of the kind fails so.
  void fail_every_second(FakeS3Reaction reaction) {
    s3_.script([reaction, count = 0](const FakeS3Call&) mutable {
      return ++count % 2 == 1 ? reaction : FakeS3Reaction();
    });
  }
  Error refusal(FakeS3Reaction reaction) {
    s3_.script([reaction](const FakeS3Call&) { return reaction; });
    return store()->list("files").error();
  }

  test::FakeS3 s3_;
  const Bytes large_ = Bytes(4500, 'l');
};

TEST_F(S3Faults, WhatMayPassIsRepeated) {
  const std::vector<FakeS3Reaction> faults = {
      {.status = 500, .code = "InternalError"},
      {.status = 503, .code = "SlowDown"},
      {.status = 502},
      {.status = 504},
      {.status = 429},
      {.status = 400, .code = "RequestTimeout"},
      {.status = 400, .code = "BadDigest"},
      {.what = FakeS3Reaction::kClose},
      {.what = FakeS3Reaction::kCloseDone},
      {.what = FakeS3Reaction::kCut},
  };
  for (const FakeS3Reaction& fault : faults) {
    fail_every_second(fault);
    const auto store = this->store();
    for (const Bytes& bytes : {Bytes("small"), large_}) {
      const Result<void> written = write(*store, bytes);
      ASSERT_TRUE(written) << fault.status << " " << fault.what << written.error().message;
      const Result<Bytes> again = read(*store, bytes.size());
      ASSERT_TRUE(again) << fault.status << " " << fault.what << again.error().message;
      EXPECT_EQ(*again, bytes);
    }
    const auto listed = store->list("files");
    ASSERT_TRUE(listed) << listed.error().message;
    EXPECT_EQ(listed->size(), 1u);
    ASSERT_TRUE(store->remove("files/x"));
  }
}

TEST_F(S3Faults, ButNotForEver) {
  for (const FakeS3Reaction& fault : {FakeS3Reaction{.status = 503, .code = "SlowDown"},
                                      FakeS3Reaction{.what = FakeS3Reaction::kClose}}) {
    const auto store = this->store();
    s3_.script({});
    ASSERT_TRUE(write(*store, "x"));
    const std::size_t before = s3_.calls().size();
    s3_.script([fault](const FakeS3Call&) { return fault; });
    const Result<Bytes> never = read(*store, 1);
    ASSERT_FALSE(never);
    EXPECT_THAT(never.error().message, HasSubstr("also after 10 attempts"));
    EXPECT_EQ(s3_.calls().size() - before, 10u);
  }
}

TEST_F(S3Faults, AServerThatNeverAnsweredIsAskedThreeTimes) {
  s3_.script([](const FakeS3Call&) { return FakeS3Reaction{.what = FakeS3Reaction::kClose}; });
  const auto listed = store()->list("files");
  ASSERT_FALSE(listed);
  EXPECT_EQ(listed.error().code, Errc::kUnavailable);
  EXPECT_EQ(s3_.calls().size(), 3u);
}

TEST_F(S3Faults, WrongBytesAreNotHidden) {
  ASSERT_TRUE(write(*store(), large_));
  s3_.script([](const FakeS3Call&) { return FakeS3Reaction{.what = FakeS3Reaction::kFlip}; });
  const Result<Bytes> wrong = read(*store(), large_.size());
  ASSERT_TRUE(wrong);  // the hash of the whole content tells it: care_test.cc
  EXPECT_NE(*wrong, large_);
}

TEST_F(S3Faults, AnUploadThatFailsIsAborted) {
  for (const std::string denied : {"PUT", "POST"}) {
    s3_.script([&denied](const FakeS3Call& call) -> FakeS3Reaction {
      const bool begins = call.query.contains("uploads");
      if (call.method == denied && !begins) return {.status = 403, .code = "AccessDenied"};
      return {};
    });
    const Result<void> written = write(*store(), large_);
    ASSERT_FALSE(written);
    EXPECT_EQ(written.error().code, Errc::kForbidden);
    EXPECT_EQ(s3_.uploads(), 0u);
  }
  EXPECT_TRUE(s3_.objects().empty());
}

TEST_F(S3Faults, WhatAKilledWriterLeftIsRemoved) {
  s3_.script([](const FakeS3Call& call) -> FakeS3Reaction {
    if (call.method == "DELETE") return {.what = FakeS3Reaction::kClose};
    if (call.method == "PUT") return {.status = 403, .code = "AccessDenied"};
    return {};
  });
  ASSERT_FALSE(write(*store(), "files/" + std::string(32, 'a') + "-4500", large_));
  ASSERT_FALSE(write(*store(), "20261123T001500.000Z.manifest", large_));
  EXPECT_EQ(s3_.uploads(), 2u);
  fail_every_second({.status = 503, .code = "SlowDown"});
  ASSERT_TRUE(store()->remove_unfinished());
  EXPECT_EQ(s3_.uploads(), 0u);
}

TEST_F(S3Faults, UploadsOfOthersStay) {
  const std::string content = std::string(32, 'a') + "-4500";
  for (const std::string& name : {"p/files/x", "p/x", "p/sub/20261123T001500.000Z.manifest",
                                  "p2/20261123T001500.000Z.manifest"}) {
    s3_.begin_upload(name);
  }
  s3_.begin_upload("p/sub/files/" + content);
  s3_.begin_upload("p/files/" + content);
  ASSERT_TRUE(store()->remove_unfinished());
  EXPECT_EQ(s3_.uploads(), 5u);
}

TEST_F(S3Faults, AnUploadThatIsGoneNeedsNoRemoval) {
  s3_.begin_upload("p/20261123T001500.000Z.manifest");
  s3_.script([](const FakeS3Call& call) -> FakeS3Reaction {
    if (call.method == "DELETE") return {.status = 404, .code = "NoSuchUpload"};
    return {};
  });
  EXPECT_TRUE(store()->remove_unfinished());
}

TEST_F(S3Faults, PruneDoesNotFailAtWhatIsUnfinished) {
  const auto files = posix_files();
  const auto store = this->store();
  BackupRepository contents(*files, *store);
  ASSERT_TRUE(contents.open());
  s3_.put("p/files/" + std::string(32, 'a') + "-1", "a");
  s3_.script([](const FakeS3Call& call) -> FakeS3Reaction {
    if (call.query.contains("uploads")) return {.status = 403, .code = "AccessDenied"};
    return {};
  });
  const auto removed = contents.remove_contents_except({});
  ASSERT_TRUE(removed) << removed.error().message;
  EXPECT_EQ(removed->files, 1u);
}

// A server that does not look at the prefix, or answers anything at all.
TEST_F(S3Faults, OnlyKeysThatWereAskedForAreListed) {
  const std::string rest =
      "<LastModified>2026-11-23T00:15:00Z</LastModified><Size>1</Size></Contents>";
  std::string body = "<ListBucketResult>";
  for (const char* const key : {"", "x", "p/files/a", "p/files/sub/b", "other/files/c"}) {
    body += "<Contents><Key>" + std::string(key) + "</Key>" + rest;
  }
  body += "<IsTruncated>false</IsTruncated></ListBucketResult>";
  s3_.script([&body](const FakeS3Call&) { return FakeS3Reaction{.body = body}; });
  EXPECT_THAT(store()->list("files").value(),
              testing::ElementsAre(StoredObject{.name = "files/a", .bytes = 1}));
}

TEST_F(S3Faults, AListThatDoesNotEndIsRefused) {
  s3_.script([](const FakeS3Call& call) {
    const bool uploads = call.query.contains("uploads");
    return FakeS3Reaction{
        .body = uploads ? "<ListMultipartUploadsResult><IsTruncated>true</IsTruncated>"
                          "<NextKeyMarker>k</NextKeyMarker><NextUploadIdMarker>u"
                          "</NextUploadIdMarker></ListMultipartUploadsResult>"
                        : "<ListBucketResult><IsTruncated>true</IsTruncated>"
                          "<NextContinuationToken>t</NextContinuationToken></ListBucketResult>"};
  });
  EXPECT_EQ(store()->list("files").error().code, Errc::kUnsupported);
  EXPECT_EQ(store()->remove_unfinished().error().code, Errc::kUnsupported);
  s3_.script([](const FakeS3Call& call) {
    return FakeS3Reaction{.body =
                              "<ListBucketResult><IsTruncated>true</IsTruncated>"
                              "<NextContinuationToken>" +
                              std::to_string(call.number) +
                              "</NextContinuationToken></ListBucketResult>"};
  });
  EXPECT_EQ(store()->list("files").error().code, Errc::kUnsupported);
}

TEST_F(S3Faults, AServerWithoutRangesIsNamed) {
  for (const Bytes& bytes : {large_, Bytes(9 << 20, 'l')}) {  // the second above the limit, 8 MiB
    s3_.put("p/files/x", bytes);
    s3_.script([](const FakeS3Call&) { return FakeS3Reaction{.what = FakeS3Reaction::kNoRange}; });
    const Result<Bytes> none = read(*store(), bytes.size());
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().code, Errc::kUnsupported);
    EXPECT_THAT(none.error().message, HasSubstr("answers no ranges"));
  }
}

// S3 may answer 200 to the completion and then an error.
TEST_F(S3Faults, ACompletionThatIsAnErrorIsRepeated) {
  s3_.script([count = 0](const FakeS3Call& call) mutable -> FakeS3Reaction {
    if (call.method == "POST" && call.query.contains("uploadId") && ++count == 1) {
      return {.status = 200, .code = "InternalError"};
    }
    return {};
  });
  const Result<void> written = write(*store(), large_);
  ASSERT_TRUE(written) << written.error().message;
  EXPECT_EQ(s3_.objects().at("p/files/x"), large_);
}

TEST_F(S3Faults, ErrorsSayWhatToDo) {
  const Error bucket =
      store([](S3Options& options) { options.url.bucket = "other"; })->list("files").error();
  EXPECT_EQ(bucket.code, Errc::kInvalidArgument);
  EXPECT_THAT(bucket.message, HasSubstr("has no bucket \"other\"; create it first"));

  const Error key = store([](S3Options& options) { options.credentials.secret = "wrong"; })
                        ->list("files")
                        .error();
  EXPECT_EQ(key.code, Errc::kUnauthenticated);
  EXPECT_THAT(key.message, HasSubstr("secret access key does not belong to"));
  EXPECT_THAT(key.message, testing::Not(HasSubstr("wrong")));

  const Error denied = refusal({.status = 403, .code = "AccessDenied"});
  EXPECT_EQ(denied.code, Errc::kForbidden);
  EXPECT_THAT(denied.message, HasSubstr("lacks the permission"));
  EXPECT_EQ(refusal({.status = 403}).code, Errc::kForbidden);

  const Error unknown = refusal({.status = 403, .code = "InvalidAccessKeyId"});
  EXPECT_EQ(unknown.code, Errc::kUnauthenticated);
  EXPECT_THAT(unknown.message, HasSubstr("does not know the access key id AKFAKE"));

  const Error skewed = refusal({.status = 403,
                                .code = "RequestTimeTooSkewed",
                                .headers = {{"Date", "Sat, 28 Nov 2026 00:00:00 GMT"}}});
  EXPECT_EQ(skewed.code, Errc::kUnauthenticated);
  EXPECT_THAT(skewed.message, HasSubstr("the clock of this machine, 2"));
  EXPECT_THAT(skewed.message, HasSubstr("the server's, Sat, 28 Nov 2026"));

  EXPECT_THAT(refusal({.status = 400, .code = "ExpiredToken"}).message,
              HasSubstr("session token has expired"));
}

TEST_F(S3Faults, AWrongRegionIsNamed) {
  const FakeS3Reaction moved{.status = 301,
                             .code = "PermanentRedirect",
                             .headers = {{"x-amz-bucket-region", "eu-west-1"}}};
  const FakeS3Reaction malformed{.status = 400,
                                 .code = "AuthorizationHeaderMalformed",
                                 .inside = "<Region>eu-west-1</Region>"};
  for (const FakeS3Reaction& reaction : {moved, malformed}) {
    const Error error = refusal(reaction);
    EXPECT_EQ(error.code, Errc::kInvalidArgument);
    EXPECT_THAT(error.message, HasSubstr("is in the region eu-west-1, not us-east-1"));
  }
  EXPECT_THAT(refusal({.status = 301,
                       .code = "PermanentRedirect",
                       .inside = "<Endpoint>b.s3-eu.amazonaws.com</Endpoint>"})
                  .message,
              HasSubstr("is served by b.s3-eu.amazonaws.com"));
  EXPECT_THAT(refusal({.status = 307}).message, HasSubstr("or the endpoint 127.0.0.1"));
}

// Of a server that is silent for longer than the test may take.
TEST_F(S3Faults, AnEndIsSeenInARequestThatIsNotAnswered) {
  std::atomic<bool> ended = false;
  const auto patient = [&ended](S3Options& options) {
    options.ended = [&ended] { return ended.load(); };
    options.silence_ms = 600'000;
  };
  s3_.script([&ended](const FakeS3Call&) -> FakeS3Reaction {
    ended = true;
    return {.what = FakeS3Reaction::kSilent};
  });
  EXPECT_EQ(store(patient)->list("files").error().code, Errc::kCancelled);
  EXPECT_EQ(s3_.calls().size(), 1u);

  ended = false;
  s3_.script([&ended](const FakeS3Call& call) -> FakeS3Reaction {
    if (call.method != "PUT") return {};
    ended = true;
    return {.what = FakeS3Reaction::kSilent};
  });
  EXPECT_EQ(write(*store(patient), large_).error().code, Errc::kCancelled);
  EXPECT_EQ(s3_.uploads(), 0u) << "it is aborted";
}

TEST_F(S3Faults, NothingIsSentAfterTheEnd) {
  const auto store = this->store([](S3Options& options) { options.ended = [] { return true; }; });
  EXPECT_EQ(store->list("files").error().code, Errc::kCancelled);
  EXPECT_TRUE(s3_.calls().empty());
}

TEST_F(S3Faults, AnEndIsSeenInAPause) {
  std::atomic<bool> ended = false;
  s3_.script([&ended](const FakeS3Call&) -> FakeS3Reaction {
    ended = true;
    return {.status = 503, .code = "SlowDown"};
  });
  const auto store = this->store([&ended](S3Options& options) {
    options.ended = [&ended] { return ended.load(); };
    options.pause_ms = 60'000;
    options.pause_ms_max = 60'000;
  });
  EXPECT_EQ(store->list("files").error().code, Errc::kCancelled);
}

TEST_F(S3Faults, TheServerMayCloseAnIdleConnection) {
  const auto store = this->store([](S3Options& options) { options.attempts_max = 1; });
  ASSERT_TRUE(write(*store, "x"));
  s3_.script([count = 0](const FakeS3Call&) mutable -> FakeS3Reaction {
    return {.what = ++count == 1 ? FakeS3Reaction::kClose : FakeS3Reaction::kAnswer};
  });
  const Result<Bytes> again = read(*store, 1);
  ASSERT_TRUE(again) << again.error().message;
}

}  // namespace
}  // namespace halite::storage::backup
