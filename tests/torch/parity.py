"""What tests of the learners on LibTorch share: short runs, and their weights beside each other."""
import array
import shutil
import sys
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[1] / 'tools'))
from bench import CPU, Skip, setting  # noqa: E402
from training import has_libtorch, newest, tensors  # noqa: E402

SMALL = {'env__count': 8, 'learner__horizon': 16, 'policies__default__hidden': '[16,16]',
         'run__evaluate_every': 0, 'run__stagger': 'false', 'solved__return': 'null'}
# One of five is marked; which side is it on?
MARKED = """#include <nacelle/env.h>
struct Marked {
    static constexpr int time_limit = 1;
    struct Params { int first = 0, count = 2; };
    struct State { float place[5]; int marked; };
    struct Action { nacelle::Discrete<2> side; };
    struct Obs { nacelle::Array<float, 5, 2> entity; };
    static void reset(State& s, const Params& p, nacelle::Rng& rng) {
        for (float& place : s.place) place = rng.uniform(-1.0f, 1.0f);
        s.marked = p.first + rng.below(p.count);
    }
    static nacelle::Outcome step(State& s, const Action& a, const Params&, nacelle::Rng&) {
        return {.reward = (s.place[s.marked] > 0) == (a.side == 1) ? 1.0f : 0.0f, .terminated = true};
    }
    static void observe(const State& s, const Params&, Obs& seen) {
        for (int i = 0; i < 5; ++i) {
            seen.entity(i, 0) = s.place[i];
            seen.entity(i, 1) = i == s.marked ? 1.0f : 0.0f;
        }
    }
};
NACELLE_ENV(Marked)
"""


# Critics of two policies, by the environment `watched_team`.
CRITICS = {'policies__default__hidden': '[12]', 'policies__even__activation': 'gelu',
           'policies__even__critic': '{"sees": ["global", "team", "own"], "hidden": [24, 7]}',
           'policies__odd__critic': '{"sees": ["team"], "hidden": []}'}


def watched(bench, name):
    """An environment whose overview shows what its agents do not see."""
    return str(bench.root / f'tests/algorithms/environments/{name}.cu')


def needs_libtorch(bench):
    if not has_libtorch(bench):
        raise Skip("this build has no learners on LibTorch: 'tools/nacelle torch' installs it and builds them")


def trained(bench, learner, environment, settings, iterations, backend='cpu'):
    """The arrays of its last checkpoint."""
    steps = settings['env__count'] * settings.get('learner__horizon', 1) * iterations
    out = f'{learner}-{iterations}'
    shutil.rmtree(bench.folder / out, ignore_errors=True)
    bench.good('train', environment, '--backend', backend, '--quiet', '--episodes', '1', '--out', out,
               *setting(**{**settings, 'learner__name': learner, 'run__total_steps': steps}))
    return tensors(newest(bench.folder / out, 'safetensors'))


def difference(fused, other):
    """The largest one of two weights, over the weight, or over its network's mean one where that is larger: weights pass
    through zero, and Adam's first step divides a gradient of rounding errors by its own size."""
    worst, compared = 0, 0
    for name, (kind, found) in fused.items():
        if not name.endswith('.policy.weights'):
            continue
        assert kind == 'F32' and found, (name, kind)
        xs, ys = array.array('f', found), array.array('f', other[f'torch_{name}'][1])
        mean = sum(map(abs, xs)) / len(xs)
        worst = max(worst, *(abs(x - y) / max(abs(x), mean) for x, y in zip(xs, ys, strict=True)))
        compared += 1
    assert compared, list(fused)
    return worst
