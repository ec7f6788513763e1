"""Protobuf and snappy by hand: what senders put on the wire."""

import struct


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out + bytes([number]))


def field(number, value):
    """A field of protobuf: an int as varint, a float as double, text and bytes with their length."""
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    data = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(data)) + data


def fixed64(number, value):
    """A field of type fixed64 or sfixed64."""
    return varint(number << 3 | 1) + struct.pack("<Q", value & (1 << 64) - 1)


def snappy(data):
    """A block: literals of at most 60 bytes, and a copy for what repeats four bytes or more."""
    out, at = bytearray(varint(len(data))), 0
    while at < len(data):
        size = min(60, len(data) - at)
        out += bytes([size - 1 << 2]) + data[at:at + size]
        at += size
        again = 0
        while again < 60 and at + again < len(data) and data[at + again] == data[at + again - 4]:
            again += 1
        if again >= 4:
            out += bytes([again - 1 << 2 | 2]) + struct.pack("<H", 4)
            at += again
    return bytes(out)


def remote_write_1(series):
    """prometheus.WriteRequest of [(labels as a dict, [(value, ms)])]."""
    return b"".join(
        field(1, b"".join(field(1, field(1, name) + field(2, value))
                          for name, value in sorted(labels.items())) + _samples(samples))
        for labels, samples in series)


def remote_write_2(series):
    """io.prometheus.write.v2.Request of the same."""
    symbols, messages = {"": 0}, b""
    for labels, samples in series:
        refs = [symbols.setdefault(word, len(symbols))
                for label in sorted(labels.items()) for word in label]
        messages += field(5, field(1, b"".join(map(varint, refs))) + _samples(samples))
    return b"".join(field(4, symbol) for symbol in symbols) + messages


def _samples(samples):
    return b"".join(field(2, field(1, float(value)) + field(2, time_ms))
                    for value, time_ms in samples)
