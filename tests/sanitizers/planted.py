"""An environment with a mistake in it must be reported by a sanitizer build: the engine's compiler
instruments environments, or this fails. Called with the tool and the build's sanitizers, as in
`address,undefined`: there is a mistake for each."""
import subprocess
import sys
import tempfile
from pathlib import Path

ENVIRONMENT = """#include <nacelle/env.h>
struct Planted {{
    struct Params {{ float none = 0; }};
    struct State {{ int list[4]; int sum; }};
    struct Action {{ nacelle::Discrete<2> go; }};
    struct Obs {{ float sum; }};
    static void reset(State& s, const Params&, nacelle::Rng&) {{ s = {{}}; }}
    static nacelle::Outcome step(State& s, const Action& a, const Params&, nacelle::Rng& rng) {{
        {mistake}
        return {{.reward = 1.0f, .terminated = rng.chance(0.1f)}};
    }}
    static Obs observe(const State& s, const Params&) {{ return {{float(s.sum)}}; }}
}};
NACELLE_ENV(Planted)
"""
PLANTED = {     # through a pointer, since the other sanitizer knows how long an array is
    'address': ('const int* list = s.list; s.sum += list[4000 + rng.below(1000) + a.go];', 'AddressSanitizer'),
    'undefined': ('s.sum = 2147483647 - rng.below(2) + 1 + a.go;', 'signed integer overflow'),
}
SOUND = 's.sum = a.go;'


def bench(tool, folder, mistake):
    file = Path(folder) / 'planted.cu'
    file.write_text(ENVIRONMENT.format(mistake=mistake))
    return subprocess.run([tool, 'bench', file, '--backend', 'cpu', '--envs', '64', '--repetitions', '1', '--kind', 'step'],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def main():
    tool, sanitizers = sys.argv[1:]
    failures = []
    with tempfile.TemporaryDirectory() as folder:
        sound = bench(tool, folder, SOUND)
        if sound.returncode != 0:
            failures.append(f'an environment without a mistake was refused:\n{sound.stdout}')
        names = sanitizers.split(',')
        for name in names:
            mistake, words = PLANTED[name]
            planted = bench(tool, folder, mistake)
            if planted.returncode == 0 or words not in planted.stdout:
                failures.append(f'the mistake planted for {name!r} was not reported:\n{planted.stdout}')
    for failure in failures:
        print(f'FAILED {failure}')
    print(f'{1 + len(names) - len(failures)} passed, {len(failures)} failed, 0 skipped')
    return 1 if failures else 0


raise SystemExit(main())
