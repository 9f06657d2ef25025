"""The page in a browser: Chromium without a window, where there is one, led by its own protocol."""
import base64
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path

from watched import Page, Played, Program, Skip, WebSocket, case, main, recorded, save, wait_until

NAMES = ('chromium', 'chromium-browser', 'google-chrome')
SHOTS = os.environ.get('NACELLE_SCREENSHOTS')      # a folder, for who wants to see them


class Browser:
    def __init__(self):
        program = next(filter(None, map(shutil.which, NAMES)), None)
        if not program:
            raise Skip(f'there is no {", ".join(NAMES)} on PATH (Debian: chromium)')
        self.folder = tempfile.TemporaryDirectory(prefix='nacelle-browser-')
        sandbox = ['--no-sandbox'] if os.geteuid() == 0 else []
        self.process = subprocess.Popen(
            [program, '--headless=new', '--remote-debugging-port=0', '--remote-allow-origins=*', '--no-first-run', '--disable-gpu',
             '--disable-dev-shm-usage', '--disable-extensions', '--disable-background-networking',
             f'--user-data-dir={self.folder.name}', '--window-size=1280,1000', *sandbox, 'about:blank'],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        port_file = Path(self.folder.name) / 'DevToolsActivePort'
        port = wait_until(lambda: port_file.exists() and port_file.read_text().split(), 60)[0]

        def tab():
            pages = json.load(urllib.request.urlopen(f'http://127.0.0.1:{port}/json', timeout=10))
            return [one for one in pages if one['type'] == 'page']
        self.socket, self.count = WebSocket(wait_until(tab)[0]['webSocketDebuggerUrl'], timeout=60), 0
        self.faults = []
        for domain in ('Page', 'Runtime', 'Log'):
            self.call(f'{domain}.enable')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()
        self.process.terminate()
        self.process.wait(30)
        for _ in range(20):
            try:
                self.folder.cleanup()
                return
            except OSError:
                time.sleep(0.1)

    def call(self, method, **params):
        self.count += 1
        self.socket.send(json.dumps({'id': self.count, 'method': method, 'params': params}))
        while True:
            word = json.loads(self.socket.receive())
            if word.get('method') == 'Runtime.exceptionThrown':
                self.faults.append(word['params']['exceptionDetails'].get('exception', {}).get('description', 'an exception'))
            if word.get('method') == 'Log.entryAdded' and word['params']['entry']['level'] == 'error':
                self.faults.append(word['params']['entry']['text'] + ' ' + word['params']['entry'].get('url', ''))
            if word.get('id') == self.count:
                assert 'error' not in word, word
                return word['result']

    def open(self, address):
        self.call('Page.navigate', url=address)

    def js(self, text):
        result = self.call('Runtime.evaluate', expression=text, returnByValue=True, awaitPromise=True)
        assert 'exceptionDetails' not in result, (text, result['exceptionDetails'])
        return result['result'].get('value')

    def until(self, text, seconds=40):
        try:
            return wait_until(lambda: self.js(text), seconds)
        except AssertionError:
            raise AssertionError(f'never true: {text}\n{self.js("document.body.innerText")[:1500]}\n{self.faults}') from None

    def shot(self, name):
        if SHOTS:
            data = self.call('Page.captureScreenshot', format='png', captureBeyondViewport=True)['data']
            (Path(SHOTS) / f'{name}.png').write_bytes(base64.b64decode(data))

    def pixels(self):
        return self.js("document.getElementById('picture').toDataURL()")


def text(name):
    return f"document.getElementById('{name}').textContent"


def slide(name, value):
    return (f"(() => {{ const one = document.querySelector('.parameter[data-name=\"{name}\"] input[type=range]');"
            f"one.value = {value}; one.dispatchEvent(new Event('input', {{ bubbles: true }})); return Number(one.value); }})()")


@case
def the_page_shows_it_moving_a_slider_changes_it_and_a_save_breaks_and_mends_it(bench):
    path = bench.folder / 'pole.cu'
    save(path, bench.cartpole([]))
    with Browser() as browser, Program(bench, 'watch', path, '--web') as program:
        address = program.address()
        other = Page(address)
        browser.open(address)
        browser.until("document.getElementById('state')?.textContent === 'runs'")
        browser.until("document.querySelectorAll('.parameter').length === 8")
        assert browser.js(text('name')) == 'CartPole'
        first = browser.pixels()
        wait_until(lambda: browser.pixels() != first)
        browser.until("document.querySelectorAll('#arrays code').length > 5")
        if os.path.exists('/usr/share/javascript/chart.js/chart.min.js'):
            browser.until("document.querySelectorAll('.curve canvas').length === 2")
        time.sleep(2)
        browser.shot('runs')

        assert browser.js(slide('gravity', 40)) == 40
        other.until(lambda known: other.value('gravity') == 40)
        browser.until("document.querySelector('.parameter[data-name=gravity]').classList.contains('changed')")
        browser.js("document.querySelector('.parameter[data-name=gravity] button').click()")
        other.until(lambda known: other.value('gravity') == 9.8)
        assert browser.js(slide('dt', 0)) == 0        # time stands still
        other.until(lambda known: other.value('dt') == 0)
        step = other.known['status']['step'] + 2
        other.until(lambda known: known['picture']['step'] > step)
        held = other.array('state.theta')
        step = other.known['status']['step']
        other.until(lambda known: known['status']['step'] > step + 5 and known['picture']['step'] > step + 5)
        assert other.array('state.theta') == held
        browser.shot('slider')
        browser.js("document.querySelector('.parameter[data-name=dt] button').click()")

        save(path, bench.cartpole([('s.x += p.dt * s.x_dot', 's.x += q.dt * s.x_dot')]))
        line = path.read_text().splitlines().index('        s.x += q.dt * s.x_dot;') + 1
        browser.until("!document.getElementById('problem').hidden")
        assert f'pole.cu:{line}: ' in browser.js(text('problem-title')), browser.js(text('problem-title'))
        assert 's.x += q.dt * s.x_dot;' in browser.js(text('problem-excerpt')) and '^' in browser.js(text('problem-excerpt'))
        browser.shot('broken')
        save(path, bench.cartpole([('canvas.disc(s.x, 0.25f, 0.05f);', 'canvas.disc(s.x, 0.25f, 0.5f);')]))
        browser.until("document.getElementById('problem').hidden")
        browser.until("/^Version 2 runs, [0-9.]+ s after it was saved/.test(document.getElementById('reload').textContent)")
        browser.shot('mended')
        browser.js("document.getElementById('pause').click()")
        browser.until("document.getElementById('state').textContent === 'paused'")
        other.close()
        assert not browser.faults, browser.faults


@case
def a_team_and_a_picture_of_arrays_are_shown_too(bench):
    plain = bench.write('plain.cu', bench.cartpole([('static void draw(', 'static void paint(')]))
    with Browser() as browser:
        for name, arguments in (('rooms', ()), ('tag_gridworld', ()), ('pursuit_swarm', ('--count', '1')), (plain, ())):
            with Program(bench, 'watch', name, '--web', *arguments) as program:
                browser.open(program.address())
                browser.until("document.getElementById('state')?.textContent === 'runs'")
                browser.until("document.getElementById('picture').width > 300 || document.getElementById('picture').height > 300")
                first = browser.pixels()
                wait_until(lambda: browser.pixels() != first)
                time.sleep(1)
                browser.shot(Path(name).stem)
        faults = [one for one in browser.faults if 'WebSocket' not in one and 'CONNECTION' not in one]
        assert not faults, faults


@case
def train_is_shown(bench):
    with Browser() as browser, Program(bench, 'train', 'cartpole', '--web', '--out', 'shown', '--set', 'run.total_steps=1000000000',
                                       '--set', 'solved.return=null') as program:
        browser.open(program.address())
        browser.until("document.getElementById('state')?.textContent === 'trains'")
        first = browser.pixels()
        wait_until(lambda: browser.pixels() != first)
        browser.until("document.querySelectorAll('.curve').length > 6")
        time.sleep(3)
        browser.shot('train')
        assert not browser.faults, browser.faults


def change(name, value, event='change'):
    return (f"(() => {{ const one = document.getElementById('{name}'); one.value = {value};"
            f"one.dispatchEvent(new Event('{event}', {{ bubbles: true }})); return one.value; }})()")


@case
def a_recording_is_played(bench):
    with Browser() as browser, Played(bench, 'play', recorded(bench), '--web') as program:
        browser.open(program.address())
        browser.until("document.getElementById('state')?.textContent === 'plays'")
        browser.until("document.getElementById('picture').width > 300")
        first = browser.pixels()
        wait_until(lambda: browser.pixels() != first)
        browser.until("Number(document.getElementById('player-step').value) > 5")
        browser.until("document.querySelectorAll('#player-episode option').length > 4")
        browser.until("document.querySelectorAll('#arrays code').length > 5 && document.querySelectorAll('.parameter .fixed').length > 1")
        browser.shot('play')
        browser.js("document.getElementById('pause').click()")
        browser.until("document.getElementById('state').textContent === 'paused'")
        browser.js(change('player-env', 1))
        browser.until("[...document.querySelectorAll('#player-episode option')].every((one) => one.textContent.includes('environment 1'))")
        browser.js(change('player-step', 40, 'input'))
        browser.until("document.getElementById('player-at').textContent.startsWith('step 40 of ')")
        held = wait_until(lambda: browser.pixels() if browser.js(text('episode')) is not None else None)
        key = "window.dispatchEvent(new KeyboardEvent('keydown', { key: 'KEY' }))"
        browser.js(key.replace('KEY', 'ArrowRight'))
        browser.until("document.getElementById('player-at').textContent.startsWith('step 41 of ')")
        wait_until(lambda: browser.pixels() != held)
        browser.js(key.replace('KEY', 'ArrowLeft'))
        browser.until("document.getElementById('player-at').textContent.startsWith('step 40 of ')")
        episode = browser.js("document.getElementById('player-episode').options[1].value")
        browser.js(change('player-episode', episode))
        browser.until("document.getElementById('player-at').textContent.startsWith('step 0 of ')")
        assert browser.js("document.getElementById('player-episode').value") == episode
        browser.js(change('pace', 200))
        browser.js("document.getElementById('pause').click()")
        browser.until("document.getElementById('player-episode').value !== '" + episode + "'")      # it goes on with the next one
        browser.shot('play-next')
        assert not browser.faults, browser.faults


raise SystemExit(main())
