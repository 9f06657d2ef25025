"""Reads TensorBoard's event files by their format alone: nothing of ours is used, and no package."""
import math
import struct


def crc32c(data):
    value = 0xffffffff
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0x82f63b78 if value & 1 else 0)
    return value ^ 0xffffffff


def masked(data):
    value = crc32c(data)
    return ((value >> 15 | value << 17) + 0xa282ead8) & 0xffffffff


assert crc32c(b'123456789') == 0xe3069283        # the check value of CRC-32C


def records(path):
    data = path.read_bytes()
    while data:
        length, check = struct.unpack('<QI', data[:12])
        assert check == masked(data[:8]), path
        body, check = data[12:12 + length], struct.unpack('<I', data[12 + length:16 + length])[0]
        assert check == masked(body), path
        yield body
        data = data[16 + length:]


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


def fields(data):
    """(number, value) of a protocol buffer's message."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        number, wire = key >> 3, key & 7
        if wire == 0:
            value, at = varint(data, at)
        elif wire == 1:
            value, at = struct.unpack('<d', data[at:at + 8])[0], at + 8
        elif wire == 5:
            value, at = struct.unpack('<f', data[at:at + 4])[0], at + 4
        else:
            assert wire == 2, wire
            length, at = varint(data, at)
            value, at = data[at:at + length], at + length
        yield number, value


def summary(data):
    values = {}
    for number, value in fields(data):
        assert number == 1
        one = dict(fields(value))
        values[one[1].decode()] = None if not math.isfinite(one[2]) else one[2]
    return values


def scalars(folder):
    """[(step, {name: value})] over all files of a folder, less what a restart made void."""
    found = []
    for path in sorted(folder.glob('events.out.tfevents.*')):
        first, *rest = records(path)
        assert dict(fields(first))[3] == b'brain.Event:2', path
        for body in rest:
            event = dict(fields(body))
            assert event[1] > 1.6e9, event         # the wall clock
            if 7 in event:
                assert dict(fields(event[7])) == {1: 1}, event
                found = [one for one in found if one[0] < event[2]]
            else:
                found.append((event[2], summary(event[5])))
    return found


def round_to_floats(line):
    for key, value in line.items():
        if key != 'step' and value is not None:
            line[key] = struct.unpack('<f', struct.pack('<f', value))[0]
