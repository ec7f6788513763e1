#include "web/http/target.h"

#include <gtest/gtest.h>

namespace halite::web {
namespace {

Target parsed(std::string_view text) {
  Target target;
  const Result<void> result = parse_target(text, true, target);
  EXPECT_TRUE(result) << text << ": " << result.error().message;
  return target;
}

Error refused(std::string_view text) {
  Target target;
  const Result<void> result = parse_target(text, true, target);
  EXPECT_FALSE(result) << text;
  return result ? Error{} : result.error();
}

TEST(Target, ApiEndpointsInAnyCaseAndVersion) {
  for (const char* text : {"/api/query", "/API/Query", "/api/v1/query", "/api/v0/query",
                           "/api/query/", "/api/V1/QUERY//", "/api/query?x"}) {
    const Target target = parsed(text);
    EXPECT_EQ(target.endpoint, "api/query") << text;
    EXPECT_TRUE(target.api) << text;
    EXPECT_FALSE(target.grafana) << text;
  }
  EXPECT_EQ(parsed("/api/v0/query").version, 0);
  EXPECT_EQ(parsed("/api/query").version, 1);
}

TEST(Target, AbsoluteFormIsAskedOfUs) {
  EXPECT_EQ(parsed("http://db.example:4242/api/query?start=1h-ago").endpoint, "api/query");
  EXPECT_EQ(parsed("http://db.example:4242/api/query?start=1h-ago").get("start"), "1h-ago");
  EXPECT_EQ(parsed("HTTPS://[::1]:4242/api/put").endpoint, "api/put");
  EXPECT_EQ(parsed("http://db.example").path, "/");
  EXPECT_EQ(parsed("http://db.example?json").path, "/");
  EXPECT_TRUE(parsed("http://db.example?json").has("json"));
  EXPECT_EQ(refused("http:///api/put").code, Errc::kInvalidArgument);
  EXPECT_EQ(refused("ftp://db.example/").code, Errc::kInvalidArgument);
  EXPECT_EQ(refused("http:/").code, Errc::kInvalidArgument);
}

TEST(Target, SlashesInFrontCountAsOne) {
  for (const char* text : {"//api/suggest", "///API/suggest", "http://db.example//api/suggest",
                           "/grafana//api/suggest", "//grafana///api/suggest"}) {
    EXPECT_EQ(parsed(text).endpoint, "api/suggest") << text;
  }
  EXPECT_EQ(parsed("//api/suggest?type=metrics").path, "/api/suggest");
  EXPECT_EQ(parsed("//api/suggest?q=//").get("q"), "//");
  EXPECT_TRUE(parsed("/grafana//api/suggest").grafana);
  EXPECT_FALSE(parsed("/grafana//").grafana);
  EXPECT_EQ(parsed("//").path, "/");
  EXPECT_EQ(parsed("//?json").path, "/");
  EXPECT_TRUE(parsed("//?json").has("json"));
}

TEST(Target, WhatFollowsTheEndpoint) {
  EXPECT_EQ(parsed("/api/search/Lookup/x").rest, (std::vector<std::string>{"Lookup", "x"}));
  EXPECT_EQ(parsed("/s/app.js").endpoint, "s");
  EXPECT_EQ(parsed("/s/app.js").rest, std::vector<std::string>{"app.js"});
  EXPECT_TRUE(parsed("/api/put").rest.empty());
}

TEST(Target, NoEndpointOfTheApi) {
  for (const char* text : {"/api", "/api/", "/api/v1", "/api/v1/"}) {
    EXPECT_EQ(parsed(text).endpoint, "api") << text;
    EXPECT_TRUE(parsed(text).api) << text;
  }
  EXPECT_EQ(parsed("/api//version").endpoint, "api/");
  EXPECT_EQ(parsed("/api/vx/query").endpoint, "api/vx");
  EXPECT_EQ(parsed("/api/v/query").endpoint, "api/v");
}

TEST(Target, PagesAreNoApi) {
  EXPECT_EQ(parsed("/").endpoint, "");
  EXPECT_EQ(parsed("//").endpoint, "");
  EXPECT_EQ(parsed("/Suggest?type=metrics").endpoint, "suggest");
  EXPECT_FALSE(parsed("/suggest").api);
}

TEST(Target, Versions) {
  const Error newer = refused("/api/v2/query");
  EXPECT_EQ(newer.code, Errc::kUnsupported);
  EXPECT_EQ(newer.message, "Requested API version is greater than the max implemented");
  EXPECT_EQ(newer.details, "API version [2] is greater than the max [1]");
  const Error odd = refused("/api/v1x/query");
  EXPECT_EQ(odd.code, Errc::kInvalidArgument);
  EXPECT_EQ(odd.message, "Invalid API version format supplied");
  EXPECT_EQ(refused("/api/v99999999999/query").message, "Invalid API version format supplied");
}

TEST(Target, GrafanaPrefix) {
  const Target target = parsed("/grafana/api/v1/query?m=x");
  EXPECT_TRUE(target.grafana);
  EXPECT_EQ(target.endpoint, "api/query");
  EXPECT_EQ(parsed("/grafana").endpoint, "grafana");
  EXPECT_FALSE(parsed("/grafana/x").grafana);
  Target off;
  ASSERT_TRUE(parse_target("/grafana/api/query", false, off));
  EXPECT_FALSE(off.grafana);
  EXPECT_EQ(off.endpoint, "grafana");
}

TEST(Target, Parameters) {
  const Target target =
      parsed("/api/query?start=1h-ago&m=sum:a%7Bhost%3D*%7D&m=b+c&ms&arrays=&&x=1=2");
  const Parameters expected = {{"start", "1h-ago"}, {"m", "sum:a{host=*}"}, {"m", "b c"},
                               {"ms", ""},          {"arrays", ""},         {"x", "1=2"}};
  EXPECT_EQ(target.parameters, expected);
  EXPECT_TRUE(target.has("ms"));
  EXPECT_FALSE(target.has("nosuch"));
  EXPECT_EQ(target.get("m"), "b c");  // the last wins
  EXPECT_EQ(parsed("/q?a=1;b=2").get("b"), "2");
  EXPECT_TRUE(parsed("/q?").parameters.empty());
}

TEST(Target, EscapesInThePath) {
  EXPECT_EQ(parsed("/api/sea%72ch/a%20b").endpoint, "api/search");
  EXPECT_EQ(parsed("/x+y").path, "/x+y");
}

TEST(Target, WhatIsNoTarget) {
  EXPECT_EQ(refused("").code, Errc::kInvalidArgument);
  EXPECT_EQ(refused("api/query").code, Errc::kInvalidArgument);
  EXPECT_EQ(refused("*").code, Errc::kInvalidArgument);
  EXPECT_EQ(refused("/api/query?m=sum:%").code, Errc::kInvalidArgument);
  EXPECT_EQ(refused("/api/query?m=%4").code, Errc::kInvalidArgument);
  EXPECT_EQ(refused("/api/query?m=%zz").code, Errc::kInvalidArgument);
  EXPECT_EQ(refused("/api/%g1").code, Errc::kInvalidArgument);
}

TEST(Target, ABrokenParameterStillTellsWhatIsAsked) {
  Target target;
  EXPECT_FALSE(parse_target("/api/query?m=%", true, target));
  EXPECT_TRUE(target.api);
  EXPECT_EQ(target.endpoint, "api/query");
}

}  // namespace
}  // namespace halite::web
