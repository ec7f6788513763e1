#include "web/http/jsonp.h"

#include <gtest/gtest.h>

namespace halite::web {
namespace {

Target with_jsonp(std::string name) {
  Target target;
  target.parameters.emplace_back("jsonp", std::move(name));
  return target;
}

class Pieces final : public BodySource {
 public:
  explicit Pieces(std::vector<std::string> pieces) : pieces_(std::move(pieces)) {}
  bool next(std::string& to) override {
    if (at_ == pieces_.size()) return false;
    to += pieces_[at_++];
    return true;
  }

 private:
  std::vector<std::string> pieces_;
  std::size_t at_ = 0;
};

TEST(Jsonp, WrapsJson) {
  Response response = json_response(200, "[1]");
  wrap_jsonp(with_jsonp("cb"), response);
  EXPECT_EQ(response.body, "cb([1])");
}

TEST(Jsonp, LeavesTheRestAlone) {
  Response text = text_response(200, "x");
  wrap_jsonp(with_jsonp("cb"), text);
  EXPECT_EQ(text.body, "x");
  Response empty = json_response(204, "");
  wrap_jsonp(with_jsonp("cb"), empty);
  EXPECT_EQ(empty.body, "");
  Response plain = json_response(200, "[1]");
  wrap_jsonp(Target{}, plain);
  EXPECT_EQ(plain.body, "[1]");
}

TEST(Jsonp, WrapsAStreamOnce) {
  Response response;
  response.source = std::make_unique<Pieces>(std::vector<std::string>{"[1", ",2", "]"});
  wrap_jsonp(with_jsonp("a.b[0]"), response);
  std::string all;
  while (response.source->next(all)) {
  }
  EXPECT_EQ(all, "a.b[0]([1,2])");
  EXPECT_FALSE(response.source->next(all));
}

TEST(Jsonp, TheFunctionIsANameAndNothingElse) {
  EXPECT_TRUE(check_jsonp(with_jsonp("jQuery_1.$cb[0]")));
  EXPECT_TRUE(check_jsonp(Target{}));
  EXPECT_TRUE(check_jsonp(with_jsonp(std::string(128, 'a'))));
  EXPECT_FALSE(check_jsonp(with_jsonp(std::string(129, 'a'))));
  EXPECT_FALSE(check_jsonp(with_jsonp("alert(1);x")));
  EXPECT_FALSE(check_jsonp(with_jsonp("<script>")));
  EXPECT_FALSE(check_jsonp(with_jsonp("a b")));
}

}  // namespace
}  // namespace halite::web
