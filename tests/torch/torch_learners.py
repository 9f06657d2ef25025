"""The learners on LibTorch beside the fused ones: from equal weights both leave the same ones."""
import json
import subprocess

from parity import CRITICS, SMALL, difference, needs_libtorch, trained, watched  # first: it says where the others are
from bench import CPU, case, main, setting  # noqa: I001
from training import goes_on_to_the_same_bytes

TOLERANCE = 1e-5
KERNELS = "torch_ppo: is a choice between kernels of 'ppo' and 'a2c'; this learner has one way"
MIXED = """#include <nacelle/env.h>
struct Mixed {
    static constexpr int time_limit = 10;
    struct Params {};
    struct State { float x, v; };
    struct Action { nacelle::Discrete<3> gear; nacelle::Continuous<-2, 2> push; nacelle::Discrete<2> brake; };
    struct Obs { float x, v; };
    static void reset(State& s, const Params&, nacelle::Rng& rng) { s = {rng.uniform(-1.0f, 1.0f), 0.0f}; }
    static nacelle::Outcome step(State& s, const Action& a, const Params&, nacelle::Rng&) {
        s.v = a.brake == 1 ? 0.5f * s.v : s.v + 0.1f * float(a.gear) * a.push;
        s.x += 0.1f * s.v;
        return {.reward = 1 - s.x * s.x, .terminated = s.x > 2};
    }
    static Obs observe(const State& s, const Params&) { return {s.x, s.v}; }
};
NACELLE_ENV(Mixed)
"""


def agree(bench, environment, learner='ppo', **changed):
    """After four iterations of several updates: a first one that differed would be seen at the end."""
    needs_libtorch(bench)
    settings = {**SMALL, 'learner__minibatches': 2, **({'learner__epochs': 2} if learner == 'ppo' else {}), **changed}
    fused, other = (trained(bench, name, environment, settings, 4) for name in (learner, f'torch_{learner}'))
    found = difference(fused, other)
    assert found <= TOLERANCE, f'after 4 iterations a weight differs by {found}'


@case
def one_agent_with_choices(bench):
    agree(bench, 'cartpole')


@case
def mixed_actions_with_vtrace_a_clip_of_values_and_gelu(bench):
    bench.write('mixed.cu', MIXED)
    agree(bench, 'mixed.cu', learner__advantage='vtrace', learner__value_clip=0.2, policies__default__activation='gelu')


@case
def a_game_with_masks_and_turns_by_a2c(bench):
    agree(bench, 'connect_four', learner='a2c')


@case
def layers_that_remember(bench):
    agree(bench, 'cartpole', learner__sequence=8,
          policies__default__hidden='[{"gru": 8}, {"mingru": 12}, 8]', policies__default__activation='silu')


@case
def squashed_actions_and_networks_of_their_own_with_relu(bench):
    agree(bench, 'pendulum', policies__default__trunk='"separate"', policies__default__squash='true',
          policies__default__activation='relu')


@case
def deviations_by_state_and_schedules(bench):
    agree(bench, 'pendulum', policies__default__deviation='state', learner__learning_rate='{"linear":[0.002,0]}',
          learner__normalise_advantages='minibatch')


@case
def images_with_codes_as_channels(bench):
    agree(bench, 'rooms', policies__default__hidden='[{"one_hot": 12}, {"conv": 4, "size": [3, 2], "stride": 2, "padding": 1}, 16]')


@case
def weights_that_decay(bench):
    agree(bench, 'cartpole', learner__weight_decay=0.1, learner__max_gradient_norm=0.1)


@case
def updates_that_end_where_the_policy_has_moved_too_far(bench):
    agree(bench, 'cartpole', learner__target_kl=1e-5, learner__learning_rate=0.01)
    updates = [json.loads(line).get('updates') for line in (bench.folder / 'torch_ppo-4' / 'metrics.jsonl').read_text().splitlines()]
    assert 1 in updates and 4 not in updates, updates


@case
def a_policy_that_learns_against_one_that_plays_at_random(bench):
    agree(bench, 'tag_gridworld', policies__runner__train='random', policies__tagger__hidden='[24]', policies__tagger__trunk='separate')


@case
def a_critic_that_sees_the_overview_of_a_policy_that_remembers(bench):
    agree(bench, watched(bench, 'overseen'), learner__advantage='vtrace', learner__value_clip=0.2, learner__sequence=8, learner__gamma=0.9,
          policies__default__hidden='[9, {"gru": 6}]', policies__default__critic='{"sees": ["global", "own"], "hidden": [33, 8]}')


@case
def critics_of_teams_by_a2c(bench):
    agree(bench, watched(bench, 'watched_team'), learner='a2c', **CRITICS)


@case
def a_critic_that_sees_both_sides_of_a_game_by_turns(bench):
    agree(bench, 'connect_four', policies__default__opponents='false', policies__default__trunk='separate',
          policies__default__critic='{"sees": ["team"], "hidden": [16]}')


@case
def another_discount_is_seen(bench):
    needs_libtorch(bench)
    fused = trained(bench, 'ppo', 'cartpole', SMALL, 2)
    assert difference(fused, trained(bench, 'torch_ppo', 'cartpole', SMALL, 2)) <= TOLERANCE
    other = trained(bench, 'torch_ppo', 'cartpole', {**SMALL, 'learner__gamma': 0.98}, 2)
    assert difference(fused, other) > 10 * TOLERANCE


@case
def a_run_that_was_killed_goes_on_to_the_same_bytes(bench):
    needs_libtorch(bench)
    goes_on_to_the_same_bytes(bench, watched(bench, 'overseen'), {
        **SMALL, 'learner__name': 'torch_ppo', 'learner__sequence': 8, 'policies__default__hidden': '[{"gru": 8}]',
        'run__total_steps': 128 * 60, 'run__checkpoint_every': 128 * 10,
        'policies__default__critic': '{"sees": ["global"], "hidden": [8]}'})


@case
def what_belongs_to_kernels_is_refused(bench):
    needs_libtorch(bench)
    for path, value, why in (
            ('policies.default.precision', 'bf16', "torch_ppo: a CPU computes in f32; bf16 needs a GPU"),
            ('policies.default.execution', 'streamed', KERNELS),
            ('learner.rollout', 'stepwise', KERNELS),
            ('learner.emulate', 'true', KERNELS),
            ('policies.default.critic', '{"sees": ["team"], "execution": "fused"}', f'policies.default.critic.execution: {KERNELS}'),
            ('learner.horizn', '3', r"torch_ppo: there is no such setting \(did you mean 'horizon'\?\)")):
        bench.refused(f'--set {path}: {why}', 'train', 'cartpole', *CPU, *setting(learner__name='torch_ppo'), '--set', f'{path}={value}')




@case
def another_version_of_libtorch_is_refused(bench):
    needs_libtorch(bench)
    bench.write('other.cpp', 'extern "C" unsigned long aoti_torch_abi_version() { return 2ul << 56 | 9ul << 48; }\n')
    subprocess.run(['c++', '-shared', '-fPIC', 'other.cpp', '-o', 'other.so'], cwd=bench.folder, check=True)
    bench.refused(r"torch_ppo: this plugin was built with LibTorch \d+\.\d+\.\d+, and the one that was loaded is 2\.9\.0; "
                  "'tools/nacelle torch' installs the right one",
                  'train', 'cartpole', *CPU, *setting(learner__name='torch_ppo'), LD_PRELOAD=bench.folder / 'other.so')


@case
def a_libtorch_that_cannot_be_loaded_is_told_and_stops_nobody_else(bench):
    needs_libtorch(bench)
    bench.write('broken/lib/libtorch_cpu.so', 'not a library')
    broken = {'NACELLE_TORCH': bench.folder / 'broken'}
    bench.refused(r"torch\.so: needs a library that cannot be loaded: .*libtorch_cpu\.so: .* \('tools/nacelle torch' installs LibTorch and builds "
                  r'what is on it\)', 'train', 'cartpole', *CPU, *setting(learner__name='torch_ppo'), **broken)
    bench.good('train', 'cartpole', *CPU, '--quiet', '--episodes', '1', '--out', 'fused',
               *setting(**SMALL, run__total_steps=128), **broken)
    # In this folder others could add a library for LibTorch's run path.
    shared = bench.folder / 'shared'
    shared.mkdir()
    shared.chmod(0o1777)
    (bench.folder / 'broken').rename(shared / 'torch')
    bench.refused(r'torch\.so: takes libraries from .*/shared, which can be written by other users \(.*',
                  'train', 'cartpole', *CPU, *setting(learner__name='torch_ppo'), NACELLE_TORCH=shared / 'torch')


def in_shell(bench, text, *arguments, **changed):
    """What tools/nacelle's functions for LibTorch do, with a folder of their own to install into."""
    begin = f'set -eu; root={bench.root}; . "$root/tools/build/build.sh"; . "$root/tools/build/torch.sh"; '
    settings = {**bench.settings, 'XDG_DATA_HOME': str(bench.folder / 'data'), **changed}
    return subprocess.run(['sh', '-c', begin + text, 'sh', *map(str, arguments)], cwd=bench.folder, env=settings,
                          capture_output=True, text=True, timeout=300)


@case
def a_command_that_names_one_is_known_and_no_other(bench):
    run = bench.write('runs/old/config.json', '{"learner": {"name": "torch_a2c"}}').parent
    bench.write('runs/other/config.json', '{"learner": {"name": "ppo"}}')
    bench.write('seeds/seed-1/config.json', '{"learner": {"name": "torch_ppo"}}')
    bench.write('slow.json', '{"env": {"source": "cartpole"}, "learner": {"name": "torch_ppo"}}')
    for wanted, words in ((True, ['train', 'cartpole', '--set', 'learner.name=torch_ppo']), (True, ['resume', run]),
                          (True, ['train', 'cartpole', 'runs/old/config.json']), (True, ['resume', 'seeds']),
                          (True, ['train', 'slow']),
                          (True, ['train', 'cartpole', '--set', 'learner={"name":"torch_ppo"}']),
                          (False, ['train', 'cartpole']), (False, ['train', 'torch_pole', '--out', 'torch_ppo']),
                          (False, ['resume', 'runs/other']), (False, ['plugins'])):
        assert (in_shell(bench, 'names_torch "$@"', *words).returncode == 0) == wanted, words


@case
def where_pypi_cannot_be_reached_nothing_is_left_behind(bench):
    unreachable = {'PIP_INDEX_URL': 'http://127.0.0.1:1/simple', 'PIP_EXTRA_INDEX_URL': '', 'PIP_FIND_LINKS': '', 'PIP_RETRIES': '0',
                   'PIP_CONFIG_FILE': '/dev/null', 'PIP_NO_CACHE_DIR': '1'}
    done = in_shell(bench, '. "$root/tools/build/setup.sh"; install_packages() { :; }; install_torch', **unreachable)
    assert done.returncode == 1 and done.stderr.endswith('nacelle: LibTorch could not be installed\n'), done
    assert 'nacelle: installing LibTorch 2.11.0 from PyPI: 546 MB to be downloaded, 1.2 GB in ' in done.stderr, done
    assert not [path for path in (bench.folder / 'data' / 'nacelle').iterdir() if path.name in ('torch', 'torch.part')], done


raise SystemExit(main())
