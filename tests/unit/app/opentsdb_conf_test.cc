#include "app/settings/opentsdb_conf.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "app/settings/opentsdb_keys.h"
#include "app/settings/options.h"

namespace halite::app {
namespace {

class OpentsdbConfTest : public testing::Test {
 protected:
  OpentsdbConfTest() { declare_settings(config_, options_); }

  void apply(std::string_view text) {
    const Result<void> applied = try_apply(text);
    ASSERT_TRUE(applied) << applied.error().message;
  }

  Result<void> try_apply(std::string_view text) {
    TRY(const std::vector<JavaProperty> properties, parse_java_properties(text));
    TRY(conf_, apply_opentsdb_properties(properties, "o.conf", config_));
    return resolve_options(options_);
  }

  Options options_;
  Config config_;
  OpentsdbConf conf_;
};

TEST_F(OpentsdbConfTest, an_empty_file_means_opentsdbs_defaults) {
  apply("");
  EXPECT_FALSE(options_.ingest.create.metrics);
  EXPECT_TRUE(options_.ingest.create.tag_keys);
  EXPECT_EQ(options_.ingest.limits.tags_max, 8u);
  EXPECT_EQ(options_.row_layout, RowLayoutKind::kOpentsdb);
  EXPECT_EQ(options_.salt_width, 0u);
  EXPECT_EQ(options_.web.idle_timeout_ms, 0);
  EXPECT_EQ(options_.web.address, "0.0.0.0");
  EXPECT_EQ(options_.web.port, 4242);
  EXPECT_TRUE(options_.web.error_trace);
  EXPECT_FALSE(options_.self_metrics.enabled);
  EXPECT_TRUE(conf_.meaningless.empty());
}

TEST_F(OpentsdbConfTest, our_defaults_stay_where_opentsdbs_only_guard_it) {
  apply("");
  EXPECT_TRUE(options_.web.long_bodies);
  EXPECT_EQ(options_.web.body_bytes_max, web::WebOptions().body_bytes_max);
}

TEST_F(OpentsdbConfTest, values_become_settings) {
  apply(
      "tsd.network.port = 4243\ntsd.network.bind=127.0.0.1\n"
      "tsd.core.auto_create_metrics = Yes\ntsd.storage.max_tags = 10 \n"
      "tsd.core.tag.allow_specialchars = !~*()_: \ntsd.core.timezone=Europe/Paris\n"
      "tsd.storage.salt.width=1\ntsd.storage.salt.buckets=4\ntsd.storage.uid.width.metric=4\n"
      "tsd.mode=ro\ntsd.http.request.cors_domains=http://a,http://b\n"
      "tsd.core.socket.timeout=7\ntsd.http.query.allow_delete=1\n"
      "tsd.query.skip_unresolved_tagvs=true\ntsd.rpc.telnet.return_errors=no\n");
  EXPECT_EQ(options_.web.port, 4243);
  EXPECT_EQ(options_.web.address, "127.0.0.1");
  EXPECT_TRUE(options_.ingest.create.metrics);
  EXPECT_EQ(options_.ingest.limits.tags_max, 10u);
  EXPECT_EQ(options_.ingest.special_characters, "!~*()_: ");
  EXPECT_EQ(options_.web.timezone, "Europe/Paris");
  EXPECT_EQ(options_.salt_width, 1u);
  EXPECT_EQ(options_.layout.salt_buckets, 4u);
  EXPECT_EQ(options_.layout.widths.metric, 4);
  EXPECT_EQ(options_.web.mode, web::Mode::kReadOnly);
  EXPECT_EQ(options_.web.cors_domains, "http://a,http://b");
  EXPECT_EQ(options_.web.telnet_idle_timeout_ms, 7000);
  EXPECT_TRUE(options_.web.allow_delete);
  EXPECT_TRUE(options_.skip_unknown_values);
  EXPECT_FALSE(options_.ingest.telnet_storage_errors);
}

TEST_F(OpentsdbConfTest, as_many_salts_as_its_tables_have) {
  options_.store = StoreKind::kHBase;
  apply(
      "tsd.storage.salt.width=2\ntsd.storage.salt.buckets=1000\n"
      "tsd.storage.hbase.data_table=ns:tsdb\n");
  EXPECT_EQ(options_.salt_width, 2u);
  EXPECT_EQ(options_.layout.salt_buckets, 1000u);
  EXPECT_EQ(options_.cells.settings_table, "ns:halite-settings");
  EXPECT_EQ(options_.cells.series_table, "ns:halite-series");
}

TEST_F(OpentsdbConfTest, of_rows_that_are_no_opentsdbs_as_many_as_they_hold) {
  options_.opentsdb.given = true;
  apply(
      "tsd.storage.salt.width=2\ntsd.storage.salt.buckets=1000\n"
      "tsd.storage.hbase.data_table=ns:tsdb\n");
  EXPECT_EQ(options_.layout.salt_buckets, 256u);
  EXPECT_EQ(options_.cells.settings_table, "halite-settings");
}

TEST_F(OpentsdbConfTest, limits_of_what_is_fetched) {
  apply("");
  EXPECT_EQ(options_.query.fetch.points_max, 0u);
  EXPECT_EQ(options_.query.fetch.free_rows, 128u);
  apply(
      "tsd.query.limits.bytes.default=1048576\ntsd.query.limits.bytes.allow_override=yes\n"
      "tsd.query.limits.data_points.default=500\n"
      "tsd.query.limits.data_points.allow_override=true\n"
      "tsd.query.limits.overrides.config=/etc/limits.json\n"
      "tsd.query.limits.overrides.interval=5000\ntsd.query.timeout=2500\n");
  EXPECT_EQ(options_.query.fetch.bytes_max, 1u << 20);
  EXPECT_TRUE(options_.query.fetch.bytes_override);
  EXPECT_EQ(options_.query.fetch.points_max, 500u);
  EXPECT_TRUE(options_.query.fetch.points_override);
  EXPECT_EQ(options_.query.fetch.overrides, "/etc/limits.json");
  EXPECT_EQ(options_.query.fetch.overrides_interval_ms, 5000);
  EXPECT_EQ(options_.query.timeout_ms, 2500);
}

TEST_F(OpentsdbConfTest, what_is_offered) {
  apply("");
  EXPECT_TRUE(options_.web.api);
  EXPECT_TRUE(options_.web.pages);
  // Only the exact text counts, as in OpenTSDB.
  apply(
      "tsd.core.enable_api=false\ntsd.core.enable_ui=yes\ntsd.stats.canonical=1\n"
      "tsd.core.stats_with_port=true\n");
  EXPECT_FALSE(options_.web.api);
  EXPECT_FALSE(options_.web.pages);
  EXPECT_TRUE(options_.web.stats_canonical);
  EXPECT_TRUE(options_.web.stats_with_port);
}

TEST_F(OpentsdbConfTest, a_guarded_server_does_not_become_an_open_one) {
  EXPECT_TRUE(try_apply("tsd.core.authentication.enable=false"));
  EXPECT_FALSE(try_apply("tsd.core.authentication.enable=true"));
}

TEST_F(OpentsdbConfTest, cells_with_the_times_of_their_points_are_refused) {
  EXPECT_TRUE(try_apply("tsd.storage.use_otsdb_timestamp=false"));
  EXPECT_FALSE(try_apply("tsd.storage.use_otsdb_timestamp=true"));
}

TEST_F(OpentsdbConfTest, appends_are_written_where_the_file_says) {
  apply("tsd.core.auto_create_metrics=true");
  EXPECT_FALSE(options_.hbase.appends);
  apply("tsd.storage.enable_appends=true");
  EXPECT_TRUE(options_.hbase.appends);
}

TEST_F(OpentsdbConfTest, chunks_only_as_the_file_says) {
  apply("tsd.http.request.enable_chunked=false\ntsd.http.request.max_chunk=99\n");
  EXPECT_FALSE(options_.web.long_bodies);
  EXPECT_EQ(options_.web.body_bytes_max, web::WebOptions().body_bytes_max);
  apply("tsd.http.request.enable_chunked=true\ntsd.http.request.max_chunk=65536\n");
  EXPECT_TRUE(options_.web.long_bodies);
  EXPECT_EQ(options_.web.body_bytes_max, 65'536u);
}

TEST_F(OpentsdbConfTest, the_last_of_two_counts) {
  apply("tsd.storage.max_tags=9\ntsd.storage.max_tags=11");
  EXPECT_EQ(options_.ingest.limits.tags_max, 11u);
}

TEST_F(OpentsdbConfTest, flags_win) {
  ASSERT_TRUE(config_.apply_flag("--set", "ingest.tags_max", "12"));
  apply("tsd.storage.max_tags=9");
  EXPECT_EQ(options_.ingest.limits.tags_max, 12u);
}

TEST_F(OpentsdbConfTest, what_is_shown) {
  apply("tsd.storage.hbase.zk_quorum=zk1\nmy.own = 1\ntsd.no_diediedie=true\n");
  EXPECT_EQ(conf_.properties.at("tsd.mode"), "rw");
  EXPECT_EQ(conf_.properties.at("tsd.storage.hbase.zk_quorum"), "zk1");
  EXPECT_EQ(conf_.properties.at("my.own"), "1");
  EXPECT_FALSE(conf_.properties.contains("tsd.storage.max_tags"));
  EXPECT_EQ(conf_.meaningless,
            (std::vector<std::string>{"tsd.no_diediedie (diediedie is always refused)"}));
}

TEST_F(OpentsdbConfTest, unknown_keys) {
  apply("# tsd.storage.salt.widht\ntsd.storage.salt.widht = 1\nmy.own = 1\nplain line\n");
  EXPECT_EQ(conf_.unknown,
            (std::vector<std::string>{
                "tsd.storage.salt.widht in line 2 (did you mean tsd.storage.salt.width?)",
                "my.own in line 3", "plain in line 4"}));
  EXPECT_EQ(options_.salt_width, 0u);
}

TEST_F(OpentsdbConfTest, where_hbase_is_and_what_its_tables_are_called) {
  apply("");
  EXPECT_EQ(options_.hbase.quorum, "localhost");
  EXPECT_EQ(options_.hbase.store.client.root, "/hbase");
  apply(
      "tsd.storage.hbase.zk_quorum=zk1:2182, zk2\ntsd.storage.hbase.zk_basedir=/hb\n"
      "tsd.storage.hbase.data_table=d\ntsd.storage.hbase.uid_table=u\n"
      "tsd.storage.hbase.tree_table=t\ntsd.storage.hbase.meta_table=m\n");
  options_.store = StoreKind::kHBase;
  ASSERT_TRUE(resolve_options(options_));
  const storage::hbase::ClientOptions& client = options_.hbase.store.client;
  EXPECT_EQ(client.quorum, (std::vector<storage::hbase::Endpoint>{{"zk1", 2182}, {"zk2", 2181}}));
  EXPECT_EQ(client.root, "/hb");
  EXPECT_EQ(options_.cells.data_table, "d");
  EXPECT_EQ(options_.cells.uid_table, "u");
  EXPECT_EQ(options_.metadata.tree_table, "t");
  EXPECT_EQ(options_.metadata.meta_table, "m");
  EXPECT_EQ(options_.row_layout, RowLayoutKind::kOpentsdb);
}

TEST_F(OpentsdbConfTest, how_asynchbase_authenticates) {
  options_.store = StoreKind::kHBase;
  const storage::hbase::ClientOptions& client = options_.hbase.store.client;
  apply(
      "hbase.security.auth.enable=true\nhbase.security.authentication=Kerberos\n"
      "hbase.kerberos.regionserver.principal=hbase/_HOST@R\nhbase.rpc.protection=privacy\n"
      "hbase.sasl.clientconfig=Client\n");
  EXPECT_TRUE(client.kerberos.enabled);
  EXPECT_EQ(client.kerberos.server_principal, "hbase/_HOST@R");
  EXPECT_EQ(client.kerberos.protections,
            static_cast<std::uint8_t>(storage::hbase::Protection::kPrivacy));
  EXPECT_EQ(conf_.meaningless,
            (std::vector<std::string>{"hbase.sasl.clientconfig (set hbase.keytab and "
                                      "hbase.principal instead of a JAAS file)"}));
}

TEST_F(OpentsdbConfTest, asynchbase_authenticates_only_if_it_is_enabled) {
  options_.store = StoreKind::kHBase;
  apply("hbase.security.authentication=kerberos\nhbase.security.simple.username=anna\n");
  EXPECT_FALSE(options_.hbase.store.client.kerberos.enabled);
  EXPECT_EQ(options_.hbase.store.client.user, "anna");
}

TEST_F(OpentsdbConfTest, wrong_values_are_named) {
  const Result<void> number = try_apply("\ntsd.storage.max_tags=many");
  ASSERT_FALSE(number);
  EXPECT_EQ(number.error().message,
            "file o.conf:2: tsd.storage.max_tags: ingest.tags_max must be a whole number, not "
            "\"many\"");
  EXPECT_FALSE(try_apply("tsd.storage.max_tags=256"));  // a chunk's key has one byte for them
  EXPECT_FALSE(try_apply("tsd.mode=xx"));
  EXPECT_FALSE(try_apply("tsd.network.port=70000"));
  EXPECT_FALSE(try_apply("tsd.http.request.cors_domains=*,http://a"));
}

TEST_F(OpentsdbConfTest, every_setting_of_the_table_is_declared_and_no_key_stands_twice) {
  std::vector<std::string_view> names;
  for (const OpentsdbKey& key : opentsdb_keys()) {
    names.push_back(key.name);
    if (key.setting.empty()) continue;
    const auto declared = [&key](const Setting& setting) { return setting.name == key.setting; };
    EXPECT_TRUE(std::ranges::any_of(config_.settings(), declared)) << key.setting;
  }
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

}  // namespace
}  // namespace halite::app
