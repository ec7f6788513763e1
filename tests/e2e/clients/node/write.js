// Two hosts' points, 100 each, through the library's socket. Prints how many it wrote and what the
// server said to them, which should be nothing.
'use strict';
const opentsdb = require('opentsdb');

const socket = opentsdb.socket();
socket.host('127.0.0.1').port(Number(process.argv[2]));
socket.on('error', (error) => { throw error; });

let written = 0;
let heard = '';
socket.on('connect', () => {
  const point = opentsdb.datum();
  point.metric('js.memory');
  socket._socket.on('data', (bytes) => { heard += bytes; });
  for (const host of ['a', 'b']) {
    point.tags('host', host);
    for (let i = 0; i < 100; ++i) {
      point.timestamp((1356998400 + i) * 1000 + 250).value(i + 0.5);
      socket.write('put ' + point.toString() + '\n');
      ++written;
    }
  }
  socket.end();
});
socket.on('close', () => console.log(JSON.stringify({written, heard})));
socket.connect();
