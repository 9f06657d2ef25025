"""The ports of ranks on CPUs, by Gloo: their addresses, and silent connections."""
import contextlib
import os
import resource
import socket
import sys
from pathlib import Path

from trained import changed_gloo, free_port, launched, needs_gloo, started, trained, words

from bench import case, main
from training import wait_for

SILENT = 1100
SHORT = 30000
LONG = {'run__total_steps': 10**12, 'run__keep': 2}
LISTENS = '0A'


def listened(process):
    """The addresses and ports at which a process listens."""
    held = set()
    for one in Path(f'/proc/{process.pid}/fd').iterdir():
        with contextlib.suppress(OSError):
            held.add(os.readlink(one))
    there = set()
    for family, file in ((socket.AF_INET, 'tcp'), (socket.AF_INET6, 'tcp6')):
        for line in Path(f'/proc/{process.pid}/net/{file}').read_text().splitlines()[1:]:
            _, local, _, state, *rest = line.split()
            if state == LISTENS and f'socket:[{rest[5]}]' in held:
                address, port = local.split(':')
                words_of = [bytes.fromhex(address[i:i + 8])[::-1] for i in range(0, len(address), 8)]
                there.add((socket.inet_ntop(family, b''.join(words_of)), int(port, 16)))
    return there


def own_address():
    """This machine's address in its network, or else the loopback's."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(('192.0.2.1', 9))
            return probe.getsockname()[0]
        except OSError:
            return '127.0.0.1'


@contextlib.contextmanager
def silence(places):
    """Many silent connections to each place."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    with contextlib.ExitStack() as all_of_them:
        for place in places:
            for _ in range(SILENT):
                with contextlib.suppress(OSError):    # the watch closes them
                    all_of_them.enter_context(socket.create_connection(place, timeout=5))
        yield


def newest(bench, out):
    return max((int(one.stem.split('-')[1]) for one in (bench.folder / out / 'checkpoints').glob('step-*.json')), default=0)


def goes_on(bench, both, out):
    before = newest(bench, out)
    wait_for(both[0], lambda: newest(bench, out) > before)
    assert both[1].poll() is None


@contextlib.contextmanager
def ended(both):
    try:
        yield
    finally:
        for one in both:
            one.kill()
            one.communicate()


@case
def strangers_end_no_run_while_ranks_meet_and_reach_no_port_behind_that(bench):
    needs_gloo(bench)
    limit = f'--nofile=1024:{resource.getrlimit(resource.RLIMIT_NOFILE)[1]}'
    port = free_port()
    of_rank = {'address': 'localhost', 'limit': limit}
    both = [started(bench, 0, 2, port, *words('cartpole', 8, 2, **LONG), '--out', 'silence', **of_rank)]
    with ended(both):
        # The store's port and that of sums.
        wait_for(both[0], lambda: len(listened(both[0])) == 2)
        there = listened(both[0])
        assert {address for address, _ in there} == {'127.0.0.1'}, there
        with silence(there):
            both.append(started(bench, 1, 2, port, *words('cartpole', 8, 2, **LONG), '--out', 'silence', **of_rank))
            for _ in range(3):
                goes_on(bench, both, 'silence')
        for one in both:
            assert listened(one) == set(), listened(one)
        goes_on(bench, both, 'silence')


@case
def short_connections_of_others_leave_ports_for_ranks(bench):
    """The system gives every second port to connections, and keeps it for a minute behind the connection."""
    needs_gloo(bench)
    with socket.create_server(('127.0.0.1', 0)) as server:
        for _ in range(SHORT):
            own = socket.create_connection(server.getsockname())
            other = server.accept()[0]
            own.close()    # first: the system keeps the port of this side
            other.close()
    trained(bench, 'short', 'cartpole', 8, 2)


# Rank 1 makes a file 'waits' before the watch, and waits for one 'come'.
LATE = """static decltype(nacelle_communicator::broadcast) next;
static nacelle_status broadcast(void* self, void* data, uint64_t bytes, uint32_t from, void* stream) {
    if (std::getenv("RANK") == std::string("1")) {
        ::close(::open("waits", O_CREAT | O_WRONLY | O_CLOEXEC, 0644));
        while (::access("come", F_OK) != 0) ::usleep(10000);
    }
    return next(self, data, bytes, from, stream);
}
static void change(nacelle_communicator& functions) {
    next = functions.broadcast;
    functions.broadcast = broadcast;
}
"""


@case
def silent_guests_keep_no_rank_from_the_watch_whose_port_closes_behind_the_last(bench):
    needs_gloo(bench)
    changed_gloo(bench, 'late', LATE)
    for address in {'127.0.0.1', own_address()}:
        for name in ('come', 'waits'):
            (bench.folder / name).unlink(missing_ok=True)
        out = f'late-{address}'
        both = launched(bench, *words('cartpole', 8, 2, **LONG, run__communicator='"late"', run__peer_memory='false'), '--plugins', 'late',
                        '--out', out, address=address)
        with ended(both):
            # The ports of the store and of sums are closed.
            wait_for(both[0], lambda: (bench.folder / 'waits').exists() and not listened(both[1]) and len(listened(both[0])) == 1)
            assert all(place[0] != '::' for place in listened(both[0])), listened(both[0])
            with silence(listened(both[0])):
                held = len(os.listdir(f'/proc/{both[0].pid}/fd'))
                assert held < 200, held
                (bench.folder / 'come').write_text('')
                goes_on(bench, both, out)
            assert listened(both[0]) == set(), listened(both[0])


if __name__ == '__main__':
    sys.exit(main())
