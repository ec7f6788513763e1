#include "web/ui_files.h"

#include <gtest/gtest.h>

#include "web/http/content_coding.h"

namespace halite::web {
namespace {

TEST(UiFiles, ThePageIsInTheBinary) {
  const UiFile* page = find_ui_file("");
  ASSERT_NE(page, nullptr);
  EXPECT_EQ(page->name, "index.html");
  EXPECT_NE(page->bytes.find("<html"), std::string_view::npos);
  EXPECT_EQ(find_ui_file("nosuch.js"), nullptr);
}

TEST(UiFiles, EveryFileIsThereTwice) {
  for (const char* name : {"index.html", "app.js", "app.css", "favicon.svg"}) {
    const UiFile* file = find_ui_file(name);
    ASSERT_NE(file, nullptr) << name;
    const Result<std::string> inflated =
        inflate_body(file->gzipped, Coding::kGzip, file->bytes.size());
    ASSERT_TRUE(inflated) << name;
    EXPECT_EQ(*inflated, file->bytes) << name;
    EXPECT_NE(content_type_of(name), "application/octet-stream") << name;
  }
}

TEST(UiFiles, TogetherTheyAreSmall) {
  std::size_t bytes = 0;
  for (const char* name : {"index.html", "app.js", "app.css", "favicon.svg"}) {
    bytes += find_ui_file(name)->gzipped.size();
  }
  EXPECT_LT(bytes, 250U << 10);  // what a browser has to fetch
}

TEST(UiFiles, TagsTellFilesApart) {
  EXPECT_NE(etag_of(*find_ui_file("app.js")), etag_of(*find_ui_file("app.css")));
  EXPECT_TRUE(etag_of(*find_ui_file("app.js")).starts_with('"'));
}

}  // namespace
}  // namespace halite::web
