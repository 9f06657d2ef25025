"""A `nacelle watch` that runs beside a test, and what its page sees."""
import json
import subprocess
import sys
import threading
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'tools'))

from bench import CPU, case, main, plain_only, setting, Skip  # noqa: E402,F401
from websocket import Closed, WebSocket, wait_until  # noqa: E402,F401


class Program:
    """A command that goes on, its lines of JSON as they come."""
    options = (*CPU, '--json')

    def __init__(self, bench, *arguments):
        command = [bench.program, *map(str, arguments), *self.options]
        self.process = subprocess.Popen(command, cwd=bench.folder, env=bench.settings, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, stdin=subprocess.DEVNULL)
        self.lines, self.errors = [], ''
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.append(json.loads(line))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(20)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise
        self.reader.join()
        self.errors = self.process.stderr.read().decode()
        self.process.stdout.close()
        self.process.stderr.close()

    def told(self, kind):
        return [line for line in self.lines if line.get('kind') == kind]

    def address(self):
        def found():
            assert self.process.poll() is None, self.process.stderr.read().decode()
            return self.told('web')
        return wait_until(found)[0]['address']


class Played(Program):
    """`play` needs no device, and has no option for one."""
    options = ('--json',)


def recorded(bench):
    """A recording of two teams, whose episodes have a hundred steps whatever tag_gridworld.json says."""
    path = bench.folder / 'team.recording'
    if not path.exists():
        bench.good('watch', 'tag_gridworld', '--steps', '260', '--pace', '0', '--record', '2', '--record-to', path, *CPU,
                   *setting(env__constants__length=100, env__constants__time_limit=100, env__params__random_starts='false'))
    return path


class Page:
    """What a browser's page would know."""

    def __init__(self, address, **headers):
        self.socket, self.known = WebSocket(address + 'live', **headers), {}

    def next(self):
        self.socket.send('next')
        news = json.loads(self.socket.receive())
        self.known.update(news)
        return news

    def say(self, **command):
        self.socket.send(json.dumps(command))

    def until(self, good, seconds=60):
        """Looks until `good(known)`, which may ask for what has not come yet. What stands already counts."""
        end = time.monotonic() + seconds
        while True:
            try:
                if good(self.known):
                    return self.known
            except (KeyError, TypeError):
                pass
            self.next()
            assert time.monotonic() < end, {name: self.known.get(name) for name in ('status', 'news', 'refused')}

    def value(self, name):
        [one] = [one for one in self.known['parameters'] if one['name'] == name]
        return one['value']

    def array(self, name):
        [one] = [one for one in self.known['arrays'] if one['name'] == name]
        return one['values']

    def close(self):
        self.socket.close()


def save(path, text):
    """By rename, as most editors do."""
    other = path.with_suffix('.new')
    other.write_text(text)
    other.rename(path)
