// Points of all types through InfluxDB 2's client for Node, packed by gzip, with a token; then lines
// of which one is wrong. Prints the error of these.
'use strict';
const {InfluxDB, Point, HttpError} = require('@influxdata/influxdb-client');

const T = 1700000000000;
const [port, token] = process.argv.slice(2);
const url = `http://127.0.0.1:${port}`;
const options = {batchSize: 1000, gzipThreshold: 1, maxRetries: 0};

async function main() {
  const api = new InfluxDB({url, token}).getWriteApi('o', 'b', 'ms', options);
  for (let i = 0; i < 2500; ++i) {
    api.writePoint(new Point('js')
        .tag('host', 'a b,c=d')
        .floatField('float', i + 0.5)
        .intField('int', Number.MAX_SAFE_INTEGER)
        .uintField('uint', i)
        .booleanField('boolean', i % 2 == 0)
        .stringField('string', 'no point')
        .timestamp(T + i));
  }
  await api.close();
  const failures = [];
  const lines = new InfluxDB({url, token}).getWriteApi('o', 'b', 'ms', {
    ...options,
    writeFailed: (error) => {
      failures.push({http: error instanceof HttpError, status: error.statusCode, json: error.json});
      return Promise.resolve();  // do not try it again
    }});
  lines.writeRecords([`lines value=1i ${T}`, `lines value=x ${T}`, `lines value=3i ${T + 1}`]);
  await lines.close();
  console.log(JSON.stringify(failures));
}

main();
