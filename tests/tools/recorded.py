"""Recordings that tests begin with, and what is in the files that `play` makes of them."""
import struct
import zlib

from bench import CPU, setting

SHORT = (*CPU, *setting(learner__name='random_search', learner__steps=50, env__count=32, solved__return='null',
                        solved__episodes=20, run__total_steps=8000, run__evaluate_every=2), '--episodes', '20')
TYPES = {'<f4': 'f', '<f8': 'd', '<i4': 'i', '<i8': 'q', '<u4': 'I', '|b1': '?', '|i1': 'b', '|u1': 'B'}


def run_of(bench):
    """A run that was recorded, made once."""
    if not (bench.folder / 'run').exists():
        bench.good('train', 'cartpole', *SHORT, '--out', 'run', '--record', '3')
    return 'run'


def recording(bench):
    return f'{run_of(bench)}/recordings/step-0.recording'


def listed(bench, name):
    head, *episodes = bench.lines('play', name)
    assert head['kind'] == 'recording' and all(one['kind'] == 'episode' for one in episodes)
    return head, episodes


def npy(data):
    """Shape and numbers of a .npy file."""
    assert data[:8] == b'\x93NUMPY\x01\x00', data[:8]
    length = struct.unpack('<H', data[8:10])[0]
    header = eval(data[10:10 + length], {'__builtins__': {}})
    body = data[10 + length:]
    numbers = struct.unpack(f'<{len(body) // struct.calcsize(TYPES[header["descr"]])}{TYPES[header["descr"]]}', body)
    return header['shape'], numbers


def png(data):
    """Width, height and the unpacked bytes of a PNG of 8 bits and three channels."""
    assert data[:8] == b'\x89PNG\r\n\x1a\n'
    at, packed, size = 8, b'', None
    while at < len(data):
        length, kind = struct.unpack('>I4s', data[at:at + 8])
        body = data[at + 8:at + 8 + length]
        assert struct.unpack('>I', data[at + 8 + length:at + 12 + length])[0] == zlib.crc32(kind + body)
        if kind == b'IHDR':
            size = struct.unpack('>IIBB', body[:10])
        if kind == b'IDAT':
            packed += body
        at += 12 + length
    assert size[2:] == (8, 2), size
    assert len(zlib.decompress(packed)) == size[1] * (3 * size[0] + 1)
    return size[:2]


def gif_frames(data):
    """Width, height, and left, top, width, height of each picture."""
    assert data[:6] == b'GIF89a'
    size = struct.unpack('<HH', data[6:10])
    at, frames = 13 + 3 * 2 ** ((data[10] & 7) + 1), []
    while data[at] != 0x3b:
        if data[at] == 0x2c:
            frames.append(struct.unpack('<4H', data[at + 1:at + 9]))
            at += 11
        else:
            assert data[at] == 0x21
            at += 2
        while data[at]:
            at += 1 + data[at]
        at += 1
    assert at == len(data) - 1
    return size, frames
