// The settings of scrub and backup.
#include "app/settings/options.h"
#include "common/units.h"

namespace halite::app {

void declare_scrub_and_backup(Config& config, ScrubBackupOptions& care) {
  config.duration_ms(
      "engine.scrub_interval_ms", care.scrub.interval_ms, {0, 366 * kDayMs},
      "Pause between two checks of all stored files. 0 = only on POST /api/admin/check.");
  config.bytes("engine.scrub_bytes_per_s", care.scrub.bytes_per_s, {64 << 10, 4096 * kMiB},
               "Maximum read rate of the check, per second.");
  config.text("engine.backup_dir", care.backup_dir,
              "Place for backups made by POST /api/admin/backup: a directory outside the data "
              "directory, or s3://BUCKET/PREFIX. Empty = such requests are refused.");
  config.text(
      "backup.s3_endpoint", care.s3.endpoint,
      "Server of s3:// backups, https://HOST[:PORT]; http:// sends data without encryption. "
      "Empty = AWS_ENDPOINT_URL_S3 or AWS_ENDPOINT_URL of the environment, else Amazon's "
      "server of the region.");
  config.text("backup.s3_region", care.s3.region,
              "Region of the bucket. Empty = AWS_REGION or AWS_DEFAULT_REGION of the environment, "
              "else us-east-1.");
  config.choice(
      "backup.s3_addressing", care.s3.addressing,
      {{"auto", S3Addressing::kAuto}, {"path", S3Addressing::kPath}, {"host", S3Addressing::kHost}},
      "How requests name the bucket: path = https://HOST/BUCKET, host = "
      "https://BUCKET.HOST, auto = host for Amazon's servers and path for others.");
  config.text("backup.s3_ca_file", care.s3.ca_file,
              "PEM file of the CAs that the server's certificate is checked with. Empty = those of "
              "the system.");
  config.text("backup.s3_credentials_file", care.s3.credentials_file,
              "File with the access key, in the form of ~/.aws/credentials. Read for each backup. "
              "Empty = AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY of the environment, else "
              "AWS_SHARED_CREDENTIALS_FILE or ~/.aws/credentials.");
  config.text("backup.s3_profile", care.s3.profile,
              "Section of the credentials file. Empty = AWS_PROFILE of the environment, else "
              "default.");
}

}  // namespace halite::app
