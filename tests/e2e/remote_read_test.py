#!/usr/bin/env python3
"""Prometheus' remote_read: streamed chunks have the same samples as the answer without chunks, in the order
of labels, in frames with right checksums."""

import json
import random
import struct

import support
from wire import field, snappy

T = 1700000000000
READ = {"Content-Type": "application/x-protobuf", "Content-Encoding": "snappy",
        "X-Prometheus-Remote-Read-Version": "0.1.0"}
SAMPLES, CHUNKS = 0, 1
EQUAL, REGEXP = 0, 2
FRAME_BYTES = 1 << 20


def crc32c(data):
    table = []
    for byte in range(256):
        for _ in range(8):
            byte = byte >> 1 ^ 0x82F63B78 * (byte & 1)
        table.append(byte)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ table[(crc ^ byte) & 0xFF]
    return crc ^ 0xFFFFFFFF


def take_varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


def fields(data):
    """[(number, value)] of a message of protobuf."""
    found, at = [], 0
    while at < len(data):
        key, at = take_varint(data, at)
        if key & 7 == 0:
            value, at = take_varint(data, at)
        elif key & 7 == 1:
            value, at = struct.unpack_from("<d", data, at)[0], at + 8
        else:
            size, at = take_varint(data, at)
            value, at = data[at:at + size], at + size
        found.append((key >> 3, value))
    return found


def unsnap(data):
    size, at = take_varint(data, 0)
    out = bytearray()
    while at < len(data):
        tag = data[at]
        at += 1
        if tag & 3 == 0:
            length = tag >> 2
            if length >= 60:
                extra = length - 59
                length, at = int.from_bytes(data[at:at + extra], "little"), at + extra
            out += data[at:at + length + 1]
            at += length + 1
            continue
        if tag & 3 == 1:
            length, offset, at = (tag >> 2 & 7) + 4, (tag >> 5) << 8 | data[at], at + 1
        else:
            extra = 2 if tag & 3 == 2 else 4
            length, offset, at = (tag >> 2) + 1, int.from_bytes(data[at:at + extra], "little"), at + extra
        for _ in range(length):
            out.append(out[-offset])
    assert len(out) == size
    return bytes(out)


class Bits:
    def __init__(self, data):
        self.data, self.at = int.from_bytes(data, "big"), len(data) * 8

    def take(self, count):
        self.at -= count
        return self.data >> self.at & (1 << count) - 1

    def varint(self):
        value = shift = 0
        while True:
            byte = self.take(8)
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value


def xor_samples(data):
    """[(ms, bits of the value)] of a chunk with the encoding XOR."""
    bits = Bits(data)
    count = bits.take(16)
    number = bits.varint()
    time, value = number >> 1 ^ -(number & 1), bits.take(64)
    samples, distance, leading, trailing = [(time, value)], 0, 0, 0
    while len(samples) < count:
        if len(samples) == 1:
            distance = bits.varint()
        else:
            size = next((size for size in (0, 14, 17, 20) if bits.take(1) == 0), 64)
            change = bits.take(size)
            distance += change - (1 << size) if size and change > 1 << size - 1 else change
        time += distance
        if bits.take(1):
            if bits.take(1):
                leading = bits.take(5)
                trailing = 64 - leading - (bits.take(6) or 64)
            value ^= bits.take(64 - leading - trailing) << trailing
        samples.append((time, value))
    return samples


def labels_of(messages):
    return tuple(tuple(part.decode() for _, part in fields(message)) for message in messages)


class RemoteRead(support.HaliteTest):
    def read(self, server, queries, form):
        """The type and the body of the answer to [(begin, end, [(kind, name, value)])]."""
        body = b"".join(
            field(1, field(1, begin) + field(2, end) + b"".join(
                field(3, field(1, kind) + field(2, name) + field(3, value)) for kind, name, value in matchers))
            for begin, end, matchers in queries) + field(2, bytes([form, SAMPLES]))
        connection = server.http()
        try:
            connection.request("POST", "/api/v1/read", snappy(body), READ)
            answer = connection.getresponse()
            data = answer.read()
            self.assertEqual(answer.status, 200, data)
            return answer.headers["Content-Type"], data
        finally:
            connection.close()

    def samples(self, server, queries):
        """For each query {labels: [(ms, bits)]}."""
        content_type, data = self.read(server, queries, SAMPLES)
        self.assertEqual(content_type, "application/x-protobuf")
        results = []
        for _, result in fields(unsnap(data)):
            found = {}
            for _, series in fields(result):
                parts = fields(series)
                labels = labels_of(value for number, value in parts if number == 1)
                samples = (dict(fields(value)) for number, value in parts if number == 2)
                found[labels] = [(sample[2], struct.unpack("<Q", struct.pack("<d", sample[1]))[0])
                                 for sample in samples]
            results.append(found)
        return results

    def chunks(self, server, queries):
        """The same by chunks; and the numbers of frames."""
        content_type, data = self.read(server, queries, CHUNKS)
        self.assertEqual(content_type, "application/x-streamed-protobuf; proto=prometheus.ChunkedReadResponse")
        results, order, frames, at = [{} for _ in queries], [], 0, 0
        while at < len(data):
            size, at = take_varint(data, at)
            message = data[at + 4:at + 4 + size]
            self.assertEqual(int.from_bytes(data[at:at + 4], "big"), crc32c(message))
            at += 4 + size
            frames += 1
            self.assertLess(size, FRAME_BYTES + 4096)
            parts = dict(fields(message))
            query = parts.get(2, 0)
            series = fields(parts[1])
            labels = labels_of(value for number, value in series if number == 1)
            self.assertEqual(list(labels), sorted(labels))
            order.append((query, labels))
            samples = results[query].setdefault(labels, [])
            for chunk in (dict(fields(value)) for number, value in series if number == 2):
                self.assertEqual(chunk[3], 1)
                decoded = xor_samples(chunk[4])
                self.assertLessEqual(len(decoded), 120)
                self.assertEqual((chunk[1], chunk[2]), (decoded[0][0], decoded[-1][0]))
                samples += decoded
        self.assertEqual(order, sorted(order))
        return results, frames

    def write(self, server, metric, tags, points):
        line = json.dumps({"metric": {"__name__": metric, **tags}, "values": [value for _, value in points],
                           "timestamps": [time for time, _ in points]})
        status, text = server.request("POST", "/api/v1/import", line.encode())
        self.assertEqual(status, 204, text)

    def test_chunks_have_the_samples(self):
        dice = random.Random(7)
        server = self.server("--set", "self_metrics.enabled=false").start()
        for i in range(30):
            time, points = T, []
            for n in range(dice.choice([1, 2, 119, 120, 121, 500])):
                time += dice.choice([15000, 15000, 15001, 14000, 1, 600000, 1 << 32])
                points.append((time, dice.choice([n, 7, 0.1 * n, dice.random(), -1e300])))
            # A tag that begins with a capital letter comes before __name__.
            tags = {"job": f"j{i % 4}", "n": str(i)} if i % 3 else {"Rack": f"r{i}"}
            self.write(server, f"m{i % 5}", tags, points)
        everything = (0, 1 << 50, [(REGEXP, "__name__", "m.*")])
        queries = [everything, (T, T + 3600_000, [(EQUAL, "__name__", "m1")]), (0, 1, [(EQUAL, "job", "j1")]),
                   (T + 100, 1 << 50, [(EQUAL, "job", "j1"), (REGEXP, "__name__", "m[23]")])]
        samples = self.samples(server, queries)
        self.assertEqual([len(found) for found in samples[:3]], [30, 6, 0])
        chunks, _ = self.chunks(server, queries)
        self.assertEqual(chunks, samples)

    def test_a_long_series_has_several_frames(self):
        server = self.server("--set", "self_metrics.enabled=false").start()
        count = self.write_long(server)
        found, frames = self.chunks(server, [(0, 1 << 50, [(EQUAL, "__name__", "long")])])
        samples = found[0][(("__name__", "long"), ("a", "b"))]
        self.assertEqual([time for time, _ in samples], [T + n * 1000 for n in range(count)])
        self.assertGreater(frames, 1)

    def test_limits(self):
        server = self.server("--set", "query.bytes_max=1048576").start()
        self.write_long(server)
        for form in (SAMPLES, CHUNKS):
            with self.assertRaisesRegex(AssertionError, "query.bytes_max"):
                self.read(server, [(0, 1 << 50, [(EQUAL, "__name__", "long")])], form)

    def write_long(self, server):
        """Writes a series with more than a frame of chunks. Returns the number of its samples."""
        dice, count = random.Random(8), 200_000
        for begin in range(0, count, 10_000):
            self.write(server, "long", {"a": "b"},
                       [(T + n * 1000, dice.random() * 1e9) for n in range(begin, begin + 10_000)])
        return count


if __name__ == "__main__":
    support.main()
