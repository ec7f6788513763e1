#include "ingest/rules/tag_map.h"

#include <string>
#include <string_view>

#include <gtest/gtest.h>

namespace halite::ingest {
namespace {

// "k=v k=v" into a map, in that order.
TagMap map_of(std::string_view pairs) {
  TagMap tags;
  while (!pairs.empty()) {
    const std::string_view pair = pairs.substr(0, pairs.find(' '));
    pairs.remove_prefix(std::min(pair.size() + 1, pairs.size()));
    const std::size_t equals = pair.find('=');
    tags.put(std::string(pair.substr(0, equals)), std::string(pair.substr(equals + 1)));
  }
  return tags;
}

struct JavaMap {
  std::string_view put;
  std::string_view printed;
};

// What a java.util.HashMap of Java 17 printed.
constexpr JavaMap kJavaMaps[] = {
    {"1dkcé😀=v0", "{1dkcé😀=v0}"},
    {"11xoé😀=v0 mr1=v1 1o7w=v2", "{1o7w=v2, mr1=v1, 11xoé😀=v0}"},
    {"1wysé😀=v0 1f4e=v1 1vvk=v2 22kp=v3 249u=v4 ui6é=v5 o2o=v6 akw😀=v7 1oqc=v8 1wlr=v9 1lhbé=v10 "
     "1x6m=v11",
     "{1wysé😀=v0, 1f4e=v1, ui6é=v5, 1lhbé=v10, 1vvk=v2, 22kp=v3, akw😀=v7, 1wlr=v9, 1x6m=v11, "
     "1oqc=v8, 249u=v4, o2o=v6}"},
    {"a01é😀=v0 135e=v1 1j0r=v2 tjb=v3 18mq=v4 xw4é=v5 19fn=v6 1ngb😀=v7 2466=v8 1buc=v9 41jé=v10 "
     "suw=v11 1fdc=v12",
     "{1fdc=v12, 41jé=v10, 135e=v1, 19fn=v6, 1buc=v9, 1j0r=v2, xw4é=v5, tjb=v3, 1ngb😀=v7, "
     "suw=v11, a01é😀=v0, 2466=v8, 18mq=v4}"},
    {"12fné😀=v0 3f=v1 1o8p=v2 199z=v3 1dar=v4 qnbé=v5 cq4=v6 1yui😀=v7 dia=v8 z7y=v9 hxeé=v10 "
     "zqt=v11 11ps=v12 5x5=v13",
     "{1o8p=v2, hxeé=v10, cq4=v6, 1yui😀=v7, qnbé=v5, 12fné😀=v0, 5x5=v13, 3f=v1, 1dar=v4, "
     "11ps=v12, zqt=v11, dia=v8, z7y=v9, 199z=v3}"},
    {"1o7zé😀=v0 19s5=v1 1lej=v2 6kg=v3 18z5=v4 evgé=v5 fxo=v6 r0k😀=v7 41p=v8 15te=v9 1i56é=v10 "
     "sfg=v11 zuc=v12 1wu0=v13 8x9😀=v14 21h6é=v15 183p=v16 mwa=v17 12zh=v18 12i0=v19 1rwté=v20 "
     "1f4w😀=v21 121l=v22 1uzo=v23 2x=v24",
     "{1uzo=v23, 15te=v9, 1rwté=v20, 2x=v24, zuc=v12, 6kg=v3, 41p=v8, 183p=v16, 1f4w😀=v21, "
     "1lej=v2, 12zh=v18, 1wu0=v13, fxo=v6, 19s5=v1, 12i0=v19, 21h6é=v15, r0k😀=v7, 121l=v22, "
     "1o7zé😀=v0, 1i56é=v10, 18z5=v4, sfg=v11, mwa=v17, 8x9😀=v14, evgé=v5}"},
    {"3hté😀=v0 77n=v1 p1i=v2 vd8=v3 lbp=v4 12d4é=v5 21e2=v6 1dos😀=v7 1nec=v8 20p9=v9 12lré=v10 "
     "9py=v11 380=v12 1tyu=v13 93f😀=v14 136qé=v15 20j1=v16 ips=v17 16lk=v18 aht=v19 pbté=v20 "
     "ahq😀=v21 mou=v22 1qcy=v23 7jv=v24 sypé=v25 1kku=v26 8s5=v27 2vw😀=v28 24nz=v29 8ahé=v30 "
     "1h4n=v31 97w=v32 22ie=v33 r8b=v34 12eké😀=v35 1mhf=v36 1tvv=v37 znr=v38 12u2=v39",
     "{1qcy=v23, 9py=v11, 7jv=v24, 2vw😀=v28, 1h4n=v31, p1i=v2, vd8=v3, 22ie=v33, 1mhf=v36, "
     "77n=v1, 20p9=v9, 12d4é=v5, 20j1=v16, mou=v22, pbté=v20, 1kku=v26, 24nz=v29, 97w=v32, "
     "8s5=v27, r8b=v34, 136qé=v15, 1tyu=v13, 12eké😀=v35, 12lré=v10, sypé=v25, 12u2=v39, 380=v12, "
     "1nec=v8, aht=v19, ips=v17, ahq😀=v21, 8ahé=v30, 16lk=v18, 1dos😀=v7, 93f😀=v14, lbp=v4, "
     "21e2=v6, 1tvv=v37, 3hté😀=v0, znr=v38}"},
    {"1no6é😀=v0 9jf=v1 23gg=v2 10lt=v3 jy9=v4 kyé=v5 g6q=v6 pg9😀=v7 151z=v8 tsa=v9 1i3vé=v10 "
     "1c5h=v11 12oj=v12 nkb=v13 pyx😀=v14 awzé=v15 ah=v16 1541=v17 1kio=v18 16c5=v19 cxré=v20 "
     "1ob0😀=v21 9js=v22 154p=v23 d9t=v24 5dsé=v25 aht=v26 18bo=v27 21ra😀=v28 1iwc=v29 ug5é=v30 "
     "1k0e=v31 1519=v32 h6g=v33 11yg=v34 1213é😀=v35 frn=v36 1ow7=v37 3se=v38 16w=v39 of8é=v40 "
     "4n0=v41 cmh😀=v42 1cdg=v43 10re=v44 175lé=v45 1p99=v46 10e4=v47 1thz=v48 e3n😀=v49 1wz7é=v50 "
     "175d=v51 23j0=v52 1uht=v53 1k7q=v54 16xhé=v55 1uok😀=v56 owz=v57 1vzh=v58 1r0b=v59",
     "{16c5=v19, 10re=v44, 1wz7é=v50, 23j0=v52, owz=v57, 1kio=v18, 1k0e=v31, 151z=v8, g6q=v6, "
     "18bo=v27, frn=v36, ah=v16, 1p99=v46, 12oj=v12, aht=v26, 1i3vé=v10, 1thz=v48, 1c5h=v11, "
     "1iwc=v29, 9jf=v1, 1541=v17, 4n0=v41, 11yg=v34, kyé=v5, d9t=v24, 175lé=v45, cxré=v20, "
     "9js=v22, 1cdg=v43, tsa=v9, nkb=v13, 21ra😀=v28, 1r0b=v59, 3se=v38, awzé=v15, jy9=v4, "
     "1vzh=v58, pyx😀=v14, 1ob0😀=v21, ug5é=v30, 1no6é😀=v0, h6g=v33, 10e4=v47, 1519=v32, "
     "cmh😀=v42, e3n😀=v49, 1213é😀=v35, 175d=v51, 1k7q=v54, 1uht=v53, 1ow7=v37, 10lt=v3, "
     "pg9😀=v7, 16w=v39, 23gg=v2, 154p=v23, 16xhé=v55, of8é=v40, 5dsé=v25, 1uok😀=v56}"},
    {"AaAaAaAa=v0 AaAaAaBB=v1 AaAaBBAa=v2 AaAaBBBB=v3 AaBBAaAa=v4 AaBBAaBB=v5 AaBBBBAa=v6 "
     "AaBBBBBB=v7 BBAaAaAa=v8",
     "{AaAaAaAa=v0, AaAaAaBB=v1, AaAaBBAa=v2, AaAaBBBB=v3, AaBBAaAa=v4, AaBBAaBB=v5, AaBBBBAa=v6, "
     "AaBBBBBB=v7, BBAaAaAa=v8}"},
    {"AaAaAaAa=v0 AaAaAaBB=v1 AaAaBBAa=v2 AaAaBBBB=v3 AaBBAaAa=v4 AaBBAaBB=v5 AaBBBBAa=v6 "
     "AaBBBBBB=v7 BBAaAaAa=v8 BBAaAaBB=v9 host=h",
     "{AaAaAaAa=v0, AaAaAaBB=v1, AaAaBBAa=v2, AaAaBBBB=v3, AaBBAaAa=v4, AaBBAaBB=v5, AaBBBBAa=v6, "
     "AaBBBBBB=v7, BBAaAaAa=v8, BBAaAaBB=v9, host=h}"},
};

TEST(TagMap, PrintsInJavasOrder) {
  for (const JavaMap& expected : kJavaMaps) {
    EXPECT_EQ(map_of(expected.put).to_string(), expected.printed);
  }
}

TEST(TagMap, ReplacedValueKeepsItsPlace) {
  TagMap tags = map_of("a=1 b=2");
  tags.put("a", "3");
  tags.put("b", std::nullopt);
  EXPECT_EQ(tags.size(), 2U);
  EXPECT_EQ(tags.to_string(), "{a=3, b=null}");
}

TEST(TagMap, FindsAmongFewAndAmongMany) {
  TagMap tags;
  for (int i = 0; i < 100; ++i) {
    EXPECT_EQ(tags.find("k" + std::to_string(i)), nullptr);
    tags.put("k" + std::to_string(i), std::to_string(i));
    ASSERT_NE(tags.find("k0"), nullptr);
    ASSERT_NE(tags.find("k" + std::to_string(i)), nullptr);
    EXPECT_EQ(tags.find("k" + std::to_string(i))->value, std::to_string(i));
  }
  tags.put("k50", "again");
  EXPECT_EQ(tags.size(), 100U);
  EXPECT_EQ(tags.find("k50")->value, "again");
}

}  // namespace
}  // namespace halite::ingest
