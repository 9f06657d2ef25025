"""A client of WebSockets (RFC 6455), as small as tests need it: text, no extensions, one thread."""
import base64
import os
import socket
import struct
import time
from urllib.parse import urlsplit


class Closed(Exception):
    pass


class WebSocket:
    def __init__(self, address, timeout=20, **headers):
        """`address` is an http:// or ws:// one."""
        place = urlsplit(address)
        self.socket = socket.create_connection((place.hostname, place.port), timeout)
        self.timeout, self.held = timeout, b''
        head = {'Host': f'{place.hostname}:{place.port}', 'Upgrade': 'websocket', 'Connection': 'Upgrade',
                'Sec-WebSocket-Key': base64.b64encode(os.urandom(16)).decode(), 'Sec-WebSocket-Version': '13', **headers}
        lines = [f'GET {place.path} HTTP/1.1'] + [f'{name}: {value}' for name, value in head.items()]
        self.socket.sendall('\r\n'.join(lines + ['', '']).encode())
        while b'\r\n\r\n' not in self.held:
            self._more()
        answer, self.held = self.held.split(b'\r\n\r\n', 1)
        self.answer = answer.decode()
        if ' 101 ' not in self.answer.splitlines()[0]:
            raise Closed(self.answer.splitlines()[0])

    def _more(self):
        piece = self.socket.recv(1 << 16)
        if not piece:
            raise Closed('the other side has closed')
        self.held += piece

    def _take(self, count):
        while len(self.held) < count:
            self._more()
        piece, self.held = self.held[:count], self.held[count:]
        return piece

    def send(self, text, opcode=1):
        data, mask = text.encode() if isinstance(text, str) else text, os.urandom(4)
        size = (bytes([0x80 | len(data)]) if len(data) < 126 else
                b'\xfe' + struct.pack('>H', len(data)) if len(data) < 1 << 16 else b'\xff' + struct.pack('>Q', len(data)))
        self.socket.sendall(bytes([0x80 | opcode]) + size + mask + bytes(b ^ mask[i % 4] for i, b in enumerate(data)))

    def receive(self):
        text = b''
        while True:
            first, second = self._take(2)
            size = second & 127
            if size > 125:
                size = struct.unpack('>H' if size == 126 else '>Q', self._take(2 if size == 126 else 8))[0]
            data, opcode = self._take(size), first & 15
            if opcode == 8:
                raise Closed(f'closed with {struct.unpack(">H", data[:2])[0] if data else "nothing"}')
            if opcode == 9:
                self.send(data, 10)
            elif opcode in (0, 1, 2):
                text += data
                if first & 128:
                    return text.decode()

    def close(self):
        self.socket.close()


def wait_until(what, seconds=30, pause=0.05):
    """The first true answer."""
    end = time.monotonic() + seconds
    while True:
        found = what()
        if found:
            return found
        assert time.monotonic() < end, f'nothing came of it within {seconds} s'
        time.sleep(pause)
