"""A crash of an author's code in a process that trains: it is told, and what was saved is whole."""
import re
import signal

from bench import CPU, case, main, plain_only, setting

# From `after` of the run on, the code does what `how` says.
CRASHES = [
    ('struct Params {', 'struct Params {\n        int how = 0;\n        float after = 2.0f;'),
    ('const Params& p, nacelle::Rng&) {\n        const float force',
     'const Params& p, nacelle::Rng&, const nacelle::Episode& now) {\n        if (now.progress >= p.after) crash(p.how);\n'
     '        const float force'),
    ('    static void reset(', '''    static int deeper(volatile int* at) {
        volatile int here[64] = {*at};
        return deeper(here) + here[1];
    }
    static void crash(int how) {
        volatile int zero = 0;
        volatile long far = 8;
        if (how == 1) *reinterpret_cast<volatile int*>(far) = 1;
        if (how == 2) zero = 100 / zero;
        if (how == 3) deeper(&zero);
        if (how == 4) __builtin_abort();
        if (how == 5) __builtin_trap();
    }
    static void reset('''),
]
KINDS = {1: (signal.SIGSEGV, 'crashed (SIGSEGV): it read or wrote outside an array, or called itself without end'),
         2: (signal.SIGFPE, 'crashed (SIGFPE): it divided a whole number by zero'),
         3: (signal.SIGSEGV, 'crashed (SIGSEGV): it read or wrote outside an array, or called itself without end'),
         4: (signal.SIGABRT, 'has destroyed memory or called abort() (SIGABRT): it wrote outside an array'),
         5: (signal.SIGILL, 'crashed (SIGILL): it ran into an instruction that is none')}
RUN = (*CPU, *setting(learner__name='random_search', learner__steps=50, env__count=256, solved__return=1000,
                      solved__episodes=100, run__total_steps=4000000, run__checkpoint_every=500000), '--episodes', '10')


def crashed(bench, kind, *arguments, with_settings=True):
    """What is said behind the first line, which has the command that finds the place, by the settings that led there."""
    result = bench.run(*arguments)
    number, words = KINDS[kind]
    assert result.status == -number, result
    first, *rest = result.err.splitlines()
    settings = sorted(word for word in map(str, arguments) if word.startswith('env.params.') and with_settings)
    check = ' '.join(['nacelle check fall.cu', *(f'--set {word}' for word in settings)]) + "'" + ('' if settings else ' by the same settings')
    assert first == f"fall: the environment's code {words}; '{check} says where", result
    return rest


@case
@plain_only('a sanitizer reports crashes itself')
def a_crash_in_training_is_told_and_leaves_a_whole_checkpoint(bench):
    bench.write('fall.cu', bench.cartpole(CRASHES))
    for kind in KINDS:
        out = f'runs/fall-{kind}'
        [left] = crashed(bench, kind, 'train', 'fall', *RUN, '--out', out, '--threads', 1 + kind % 2,
                         # An evaluation is behind the half of any run.
                         *setting(env__params__how=kind, env__params__after=0.5, run__evaluate_every=0, solved__return='null'))
        found = re.fullmatch(rf"{out}: the checkpoint of step (\d+) is whole; 'nacelle resume {out} --changed-source' goes on "
                             r'from it once the file is mended', left)
        assert found and int(found[1]) > 1000000, left
        [told] = bench.lines('inspect', out)
        assert int(found[1]) == max(one['steps'] for one in told['checkpoints']), (left, told)
    # Mended, it goes on.
    bench.write('fall.cu', bench.cartpole([*CRASHES, ('p.after) crash', 'p.after && p.how > 9) crash')]))
    text = bench.good('resume', 'runs/fall-1', '--changed-source', *CPU, '--episodes', '10')
    assert ' steps: return ' in text, text


@case
@plain_only('a sanitizer reports crashes itself')
def every_command_that_runs_the_code_tells_a_crash(bench):
    bench.write('fall.cu', bench.cartpole(CRASHES))
    falls = setting(env__params__how=1, env__params__after=0)
    [left] = crashed(bench, 1, 'train', 'fall', *RUN, '--out', 'runs/first', *falls)
    assert left == 'runs/first: no checkpoint was saved yet', left
    bench.good('train', 'fall', *RUN, *setting(run__total_steps=50000), '--out', 'runs/whole')
    assert crashed(bench, 1, 'eval', 'runs/whole', '--episodes', '10', *CPU, *falls, with_settings=False) == []
    assert crashed(bench, 1, 'bench', 'fall', '--envs', '64', '--repetitions', '1', *CPU, *falls) == []
    assert crashed(bench, 1, 'draw', 'fall', '--steps', '3', *CPU, *falls) == []
    # What is recommended does find it.
    told = bench.run('draw', 'fall', '--steps', '3', *CPU, *falls).err
    result = bench.run(*re.search(r"'nacelle (check .*)' says", told)[1].split(), '--only', 'indices', *CPU)
    assert result.status == 1 and 'fall.cu' in result.out, result
    # The process that watches runs on, and names the same way out.
    result = bench.run('watch', 'fall', '--steps', '5', '--pace', '0', *CPU, *falls)
    assert result.status == 1 and "'nacelle check'" in result.out + result.err, result


raise SystemExit(main())
