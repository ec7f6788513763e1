#!/bin/bash
# Builds a Grafana 10.0 of June 2023, server and frontend, from the source that the Go module proxy has, for
# grafana_real.py: grafana/README.md tells what to do with it. No part of ./dev test or ./dev e2e.
#
#   tests/e2e/build_grafana.sh DIRECTORY
#
# Wants go, a C compiler, node 18 or 20, npm, 8 GiB of memory and of disk, and up to half an hour on 4 cores.
set -euo pipefail
mkdir -p "$1" && cd "$1"

source=github.com/grafana/grafana@v1.9.2-0.20230609164553-81d85ce8028d
from=$(go mod download -json "$source" | sed -n 's/^\t"Dir": "\(.*\)",$/\1/p')
cp -r "$from" src && chmod -R u+w src && cd src

# The server.
GOBIN=$PWD/.. go install github.com/google/wire/cmd/wire@v0.7.0
../wire gen -tags oss ./pkg/server
go build -tags oss -o ../grafana ./pkg/cmd/grafana

# A Go module has no folders named vendor, so what Grafana keeps in public/vendor comes from npm. Pieces of
# flot that nobody publishes stay empty: dashes, gauges, and fills between lines, which our dashboards do not use.
for package in flot@0.8.3 bootstrap@3.4.1 bootstrap-tagsinput@0.7.1; do
  mkdir -p "../npm/${package%@*}"
  tar xzf "$(npm pack --silent --pack-destination ../npm "$package" | sed 's,^,../npm/,')" -C "../npm/${package%@*}"
done
vendor=public/vendor
mkdir -p $vendor/flot $vendor/bootstrap $vendor/tagsinput
cp ../npm/flot/package/jquery.flot{,.selection,.time,.stack,.crosshair}.js $vendor/flot/
touch $vendor/flot/jquery.flot.{dashes,fillbelow,gauge,stackpercent}.js
cp ../npm/bootstrap/package/dist/js/bootstrap.js $vendor/bootstrap/
echo 'jQuery.fn.tooltip.defaults = jQuery.fn.tooltip.Constructor.DEFAULTS;' >> $vendor/bootstrap/bootstrap.js
cp ../npm/bootstrap-tagsinput/package/dist/bootstrap-tagsinput.js $vendor/tagsinput/

# The frontend: xlsx from npm, no git hooks, and what newer versions of node no longer let Yarn's loader do.
sed -i 's,"xlsx": "https:[^"]*","xlsx": "0.18.5",; s,"postinstall": "[^"]*","postinstall": "true",' package.json
sed -i "s,config: path.resolve(__dirname)\,,config: false\, plugins: [require('autoprefixer')]\,," \
  scripts/webpack/sass.rule.js
cat > build-frontend.js <<'END'
const config = require('./scripts/webpack/webpack.prod.js')({ noMinify: '1' });
require('webpack')({ ...config, devtool: false, cache: false }, (error, stats) => {
  console.log(error ?? stats.toString({ all: false, errors: true }));
  if (error) process.exit(1);
});
END
yarn() { node .yarn/releases/yarn-3.4.1.cjs "$@"; }
export NODE_OPTIONS=--max-old-space-size=6000 YARN_ENABLE_IMMUTABLE_INSTALLS=false
yarn install --mode=skip-build > ../install.log
NODE_ENV=production yarn node build-frontend.js
echo "built: $1/grafana server --homepath $1/src"
