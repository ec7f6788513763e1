// Everything that the library's client can ask; prints one JSON object of all answers.
'use strict';
const opentsdb = require('opentsdb');

const T = 1356998400;
const client = opentsdb.client();
client.host('127.0.0.1').port(Number(process.argv[2]));
client.start(T * 1000).end((T + 100) * 1000);

// client.FUNCTION(callback) as a promise. "No data" is an answer too, and is null here.
function ask(name) {
  return new Promise((resolve, reject) => client[name]((error, data) => {
    if (error && error.status !== 404) {
      reject(new Error(JSON.stringify(error)));
    } else {
      resolve(error ? null : data);
    }
  }));
}

function query(metric, aggregator) {
  return opentsdb.mquery().metric(metric).aggregator(aggregator);
}

async function main() {
  const found = {};
  client.queries(query('js.memory', 'sum').tags('host', '*'));
  found.grouped = await ask('get');
  if (Array.isArray(found.grouped)) {
    client.queries(query('js.memory', 'sum').downsample('10s-avg'));
    found.summed = await ask('get');
    const rates = query('js.memory', 'sum').rate(true);
    rates.rateOptions({counter: false, counterMax: 1000, resetValue: 0});
    client.queries(rates);
    found.rates = await ask('get');
    const one = opentsdb.tquery();
    one.aggregator('sum').tsuids(found.grouped[0].tsuids);
    client.tsuids(true).queries(one);
    found.by_tsuid = await ask('get');
    client.queries(query('js.unknown', 'sum'));
    found.unknown = await ask('get');
  } else {
    found.grouped = null;  // not there yet: an error in place of answers
  }
  for (const name of ['metrics', 'aggregators', 'version', 'config', 'dropcaches']) {
    found[name] = await ask(name);
  }
  // Only ours: the server also keeps its own.
  found.metrics = found.metrics.filter((metric) => metric.startsWith('js.'));
  console.log(JSON.stringify(found));
}

main().catch((error) => {
  console.error(error);
  process.exit(1);
});
