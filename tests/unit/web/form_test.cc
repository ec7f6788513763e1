#include "web/http/form.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace halite::web {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;

Request body_of_type(const char* type, std::string body) {
  Request request;
  request.method = "POST";
  request.headers.add("Content-Type", type);
  request.body = std::move(body);
  return request;
}

Parameters fields_of(const Request& request) {
  Result<Parameters> read = form_fields(request);
  EXPECT_TRUE(read) << read.error().message;
  return read ? *std::move(read) : Parameters();
}

TEST(Form, is_urlencoded) {
  const Request request = body_of_type("application/x-www-form-urlencoded; charset=utf-8",
                                       "match%5B%5D=a%2Bb&x=1+2&match%5B%5D=c");
  EXPECT_TRUE(has_form(request));
  EXPECT_THAT(fields_of(request),
              ElementsAre(Pair("match[]", "a+b"), Pair("x", "1 2"), Pair("match[]", "c")));
  EXPECT_FALSE(form_fields(body_of_type("application/x-www-form-urlencoded", "a=%")));
}

TEST(Form, is_multipart) {
  const Request request =
      body_of_type("multipart/form-data; boundary=\"b-1\"",
                   "--b-1\r\n"
                   "Content-Disposition: form-data; name=\"query\"\r\n"
                   "\r\n"
                   "sum(up)\r\nby (a)\r\n"
                   "--b-1\r\n"
                   "Content-Type: text/plain\r\n"
                   "content-disposition: form-data; name=\"f\"; filename=\"f.txt\"\r\n"
                   "\r\n"
                   "left out\r\n"
                   "--b-1\r\n"
                   "Content-Disposition: form-data; name=time\r\n"
                   "\r\n"
                   "\r\n"
                   "--b-1--\r\n");
  EXPECT_TRUE(has_form(request));
  EXPECT_THAT(fields_of(request),
              ElementsAre(Pair("query", "sum(up)\r\nby (a)"), Pair("time", "")));
}

TEST(Form, multipart_has_to_end) {
  for (const char* body : {"--b", "--b\r\n", "x", "--b\r\n\r\nvalue",
                           "--b\r\nContent-Disposition: form-data; name=a\r\n\r\nvalue\r\n"}) {
    EXPECT_FALSE(form_fields(body_of_type("multipart/form-data; boundary=b", body))) << body;
  }
  EXPECT_FALSE(form_fields(body_of_type("multipart/form-data", "--b--")));
  EXPECT_THAT(fields_of(body_of_type("multipart/form-data; boundary=b", "--b--")), IsEmpty());
}

TEST(Form, other_bodies_have_no_fields) {
  EXPECT_FALSE(has_form(body_of_type("application/json", "{}")));
  EXPECT_THAT(fields_of(body_of_type("application/json", "a=1")), IsEmpty());
  EXPECT_THAT(fields_of(body_of_type("multipart/form-data", "")), IsEmpty());
}

}  // namespace
}  // namespace halite::web
