"""The page's server: who is let in, what is given away, and clients that are stuck, rude or too many."""
import os
import re
import resource
import socket
import time
from urllib.parse import urlsplit

from watched import Closed, Page, Program, WebSocket, case, main, plain_only, setting, wait_until


class Served:
    """A watch that pauses at once, for tests that look at its server alone."""

    def __init__(self, bench):
        self.program = Program(bench, 'watch', 'cartpole', '--web', '--paused')
        self.address = self.program.address()
        place = urlsplit(self.address)
        self.port, self.token = place.port, place.path.strip('/')

    def __enter__(self):
        return self

    def __exit__(self, *_):
        assert self.program.process.poll() is None, 'the program has ended'
        self.program.__exit__()

    def raw(self, request, seconds=15):
        """What comes back until the other side closes."""
        with socket.create_connection(('127.0.0.1', self.port), seconds) as line:
            try:
                line.sendall(request)
            except OSError:
                pass        # it has heard enough
            answer = b''
            try:
                while piece := line.recv(1 << 16):
                    answer += piece
            except ConnectionResetError:
                pass
        return answer.decode(errors='replace')

    def ask(self, path='', method='GET', host=None, more='', body=b''):
        head = f'{method} {path} HTTP/1.1\r\nHost: {host or f"127.0.0.1:{self.port}"}\r\nConnection: close\r\n{more}\r\n'
        return self.raw(head.encode() + body)

    def status(self, *arguments, **named):
        answer = self.ask(*arguments, **named)
        return int(answer.split()[1]) if answer else 0


@case
def the_page_and_its_files_are_given_to_who_has_the_token(bench):
    with Served(bench) as served:
        assert re.fullmatch(r'http://127\.0\.0\.1:\d+/[0-9a-f]{32}/', served.address), served.address
        page = served.ask(f'/{served.token}/')
        assert page.startswith('HTTP/1.1 200') and '<!doctype html>' in page
        for header in ("Content-Security-Policy: default-src 'none'", 'X-Content-Type-Options: nosniff', 'Cache-Control: no-store',
                       'Referrer-Policy: no-referrer', 'Content-Type: text/html'):
            assert header.lower() in page.lower(), page[:900]
        for name in re.findall(r'(?:src|href)="([a-z.]+)"', page):
            there = served.status(f'/{served.token}/{name}')
            assert there == 200 or name == 'chart.js' and not os.path.exists('/usr/share/javascript/chart.js/chart.min.js'), name
        assert '\r\n\r\n' == served.ask(f'/{served.token}/page.css', method='HEAD')[-4:]
        assert served.status(f'/{served.token}/?page=1') == 200
        assert served.status(f'/{served.token}/', host=f'localhost:{served.port}') == 200


@case
def without_the_token_nothing_is_given(bench):
    with Served(bench) as served:
        other = '0' * 32
        for path in ('/', '/index.html', '/live', f'/{other}/', f'/{served.token}', f'/{served.token[:-1]}/', f'/{served.token}0/',
                     f'/{served.token.upper()}/' if served.token.upper() != served.token else '/x/', '//', f'//{served.token}/'):
            assert served.status(path) == 403, path
            assert served.token not in served.ask(path)
        for path in ('live', f'{other}/live'):
            try:
                WebSocket(f'http://127.0.0.1:{served.port}/{path}')
                raise AssertionError(path)
            except Closed as closed:
                assert '403' in str(closed), closed


@case
def each_start_has_another_token(bench):
    with Served(bench) as one, Served(bench) as two:
        assert one.token != two.token and len(set(one.token)) > 4
        assert one.status(f'/{two.token}/') == 403


@case
def another_host_or_origin_is_refused(bench):
    with Served(bench) as served:
        path = f'/{served.token}/'
        for host in ('evil.example', f'evil.example:{served.port}', '127.0.0.1', f'127.0.0.1:{served.port + 1}', f'127.0.0.1.evil.example:{served.port}',
                     f'localhost:{served.port}.evil.example', f'0.0.0.0:{served.port}', 'x', f'127.0.0.1:{served.port}, evil.example'):
            assert served.status(path, host=host) == 403, host
        assert served.status(path, more=f'Host: 127.0.0.1:{served.port}\r\n') == 403        # two of them
        assert served.raw(f'GET {path} HTTP/1.0\r\n\r\n'.encode()).split()[1] == '403'        # none
        for origin in ('http://evil.example', 'null', f'https://127.0.0.1:{served.port}', f'http://127.0.0.1:{served.port + 1}', 'file://',
                       f'http://127.0.0.1:{served.port}.evil.example'):
            assert served.status(path, more=f'Origin: {origin}\r\n') == 403, origin
            try:
                WebSocket(served.address + 'live', Origin=origin)
                raise AssertionError(origin)
            except Closed as closed:
                assert '403' in str(closed), closed
        good = WebSocket(served.address + 'live', Origin=f'http://127.0.0.1:{served.port}')
        good.send('next')
        assert good.receive().startswith('{')
        good.close()


@case
def only_the_loopback_address_listens(bench):
    with Served(bench) as served:
        port = f'{served.port:04X}'
        listening = [line.split()[1] for name in ('/proc/net/tcp', '/proc/net/tcp6') if os.path.exists(name)
                     for line in open(name).read().splitlines()[1:] if line.split()[3] == '0A']
        mine = [one for one in listening if one.endswith(f':{port}')]
        assert mine == [f'0100007F:{port}'], mine


@case
def paths_lead_to_no_other_file(bench):
    with Served(bench) as served:
        for path in ('../../../../etc/passwd', '..%2f..%2f..%2fetc%2fpasswd', '/etc/passwd', '//etc/passwd', './page.css', 'page.css/', 'page.css%00',
                     'page/page.css', 'chart.js/../page.css', '%2e%2e/', 'page.CSS', '.', '..', '\\..\\page.css', 'favicon.ico', 'a' * 4000):
            status = served.status(f'/{served.token}/{path}')
            assert status == 404, (path, status)
        assert served.status(f'http://127.0.0.1:{served.port}/{served.token}/') == 400


@case
def what_is_too_large_or_no_request_is_refused(bench):
    with Served(bench) as served:
        path, host = f'/{served.token}/', f'Host: 127.0.0.1:{served.port}\r\n'
        assert served.status(path, more='X-Long: ' + 'x' * 20000 + '\r\n') == 431
        assert served.status(path, more='X-Much: 1\r\n' * 3000) == 431
        assert served.status('/' + 'x' * 20000) == 431
        assert served.status(path, method='POST', more='Content-Length: 5\r\n', body=b'hello') in (405, 413)
        assert served.status(path, more='Content-Length: 99999999999\r\n') == 413
        assert served.status(path, more='Transfer-Encoding: chunked\r\n', body=b'5\r\nhello\r\n0\r\n\r\n') == 413
        for method in ('POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE', 'BREW'):
            assert served.status(path, method=method) == 405, method
        for noise in (b'\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03' + bytes(200), b'hello\r\n\r\n', b'GET\r\n\r\n', b'GET / HTTP/9.9\r\n' + host.encode() + b'\r\n',
                      b'\x00' * 4000):
            answer = served.raw(noise)
            assert answer == '' or answer.split()[1] in ('400', '431'), (noise[:20], answer[:80])
        assert served.status(path + 'live') == 426


@case
def a_rude_page_is_closed_and_the_others_go_on(bench):
    with Served(bench) as served:
        good, rude = Page(served.address), WebSocket(served.address + 'live')
        good.next()
        rude.send('x' * 5000)
        try:
            while True:
                rude.receive()
        except (Closed, OSError):
            pass
        other = WebSocket(served.address + 'live')
        for text in ('', 'hello', '{}', '[]', '{"do":3}', '{"do":"fly"}', '{"do":"param"}', '{"do":"param","name":3}', '{"do":"env","value":{}}',
                     '{"do":"arrays","value":"obs"}', '{"do":"arrays","value":[1,"nothing"]}', '{"do":"pace","value":"fast"}',
                     '{"do":"pace","value":-1e300}', '{"do":"step"}\n{"do":"quit"}', '[' * 2000, '{"do":"env","value":1e30}'):
            other.send(text)
        other.send('next')
        assert other.receive().startswith('{')
        good.say(do='pace', value=60)
        good.say(do='play')
        good.until(lambda known: known['status']['step'] > 5)
        other.close()
        good.close()


def is_closed(line):
    """Whether its other end has closed it; one that is open says nothing unasked."""
    line.settimeout(0.01)
    try:
        return line.recv(1, socket.MSG_PEEK) == b''
    except TimeoutError:
        return False
    except OSError:
        return True


@case
def more_than_some_connections_are_not_kept(bench):
    with Served(bench) as served:
        lines = [socket.create_connection(('127.0.0.1', served.port), 10) for _ in range(80)]
        # The oldest make room for the others, sooner than one that asks for nothing is closed.
        wait_until(lambda: sum(is_closed(line) for line in lines) >= 40, seconds=8)
        for line in lines:
            line.close()
        wait_until(lambda: served.status(f'/{served.token}/') == 200)


@case
def connections_that_ask_for_nothing_keep_nobody_with_the_token_out(bench):
    with Served(bench) as served:
        pages = [Page(served.address) for _ in range(3)]
        idle = [socket.create_connection(('127.0.0.1', served.port), 10) for _ in range(40)]
        began = time.monotonic()
        for _ in range(5):
            assert served.status(f'/{served.token}/') == 200
        late = Page(served.address)
        assert late.next() and time.monotonic() < began + 5
        # Those who came in before them stay.
        for page in pages:
            assert page.next()
            page.close()
        late.close()
        for line in idle:
            line.close()


@case
def pages_have_a_limit_of_their_own(bench):
    with Served(bench) as served:
        pages = [Page(served.address) for _ in range(32)]
        try:
            Page(served.address)
            raise AssertionError('a page too many was let in')
        except Closed as closed:
            assert '503' in str(closed), closed
        refused = served.raw(f'GET /{served.token}/live HTTP/1.1\r\nHost: 127.0.0.1:{served.port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n'
                             'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n'.encode())
        assert refused.endswith('32 pages are open already: close one'), refused
        assert served.status(f'/{served.token}/') == 200
        for page in pages:
            assert page.next()
            page.close()


def seconds_of_processor(process):
    fields = open(f'/proc/{process.pid}/stat').read().rsplit(')', 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf('SC_CLK_TCK')


@case
@plain_only('the undefined-behaviour sanitizer asks the system by a pipe whether memory is there')
def a_process_with_no_descriptor_left_waits_instead_of_trying_again_at_once(bench):
    with Served(bench) as served:
        process = served.program.process
        most = max(int(name) for name in os.listdir(f'/proc/{process.pid}/fd')) + 6
        resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (most, most))
        idle = [socket.create_connection(('127.0.0.1', served.port), 10) for _ in range(30)]
        time.sleep(0.5)
        before = seconds_of_processor(process)
        time.sleep(1)
        used = seconds_of_processor(process) - before
        assert used < 0.4, used
        # The oldest of them make room for who has the token.
        wait_until(lambda: served.status(f'/{served.token}/') == 200, seconds=8)
        for line in idle:
            line.close()


@case
def a_client_that_does_not_read_makes_nothing_wait_and_nothing_grow(bench):
    with Program(bench, 'train', 'pursuit_swarm', '--web', *setting(env__count=4, learner__horizon=8, run__total_steps=100000000)) as program:
        address = program.address()
        good = Page(address)
        good.until(lambda known: known['picture'] and known['status']['step'] > 0)
        stuck = [WebSocket(address + 'live') for _ in range(8)]
        for one in stuck:
            for _ in range(500):
                one.send('next')        # and never reads
        memory = lambda: int(re.search(r'VmRSS:\s+(\d+)', open(f'/proc/{program.process.pid}/status').read())[1])
        time.sleep(1)
        before, step = memory(), good.known['status']['step']
        end = time.monotonic() + 4
        while time.monotonic() < end:
            good.next()
        assert memory() < before + 40000, (before, memory())
        assert good.known['status']['step'] > step and good.known['status']['state'] == 'runs'
        for one in stuck:
            one.close()
        good.close()


raise SystemExit(main())
