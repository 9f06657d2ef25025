"""What the command line refuses, and the first line that it then prints, as a pattern."""

# Command lines that end with 2.
WRONG_LINES = '''

frobnicate
inspect
train
inspect cartpole --frob
inspect cartpole more words
inspect cartpole --backend tpu
inspect cartpole --threads -1
inspect cartpole --seed x
check cartpole --only nothing
check --timeout 0
draw
draw cartpole --steps -1
draw cartpole --env many
draw cartpole --size 0
new
new pond big
new pond --frob
bench --envs 0
bench --envs -5
bench --envs many
bench --kind walk
bench --repetitions 0
bench --train --kind step
bench --train --graph-steps 5
bench --train --rollout-steps 5
bench one.json two.json
train cartpole --episodes 0
train cartpole --until 0
train cartpole --until 5 --seeds 2
train cartpole --out
resume
resume a b
resume a --seed 3
resume a --seeds 3
runs a b
runs --set a=b
plot
plot a --x hours
plot a --size 0
compare
compare a
sweep
sweep a.json --search best
sweep a.json --trials 0
sweep a.json --runner pbs
sweep a.json --side-by-side many
eval
eval a --episodes 0
eval a --checkpoint
eval a --record 0
eval a --record-arrays obs
eval a --policy b.onnx --checkpoint latest
eval a --policy b.onnx --changed-source
export
export a
export a --to pdf
export a b --to c
match
match random
match a b --games 3
match a b --games 0
match a b --opening -1
train cartpole --record many
play
play a --export avi
play a --size 0
play a --fps 0
play a --episode x
plugins --folder
'''

# What no command knows, and the first line that is said of it.
UNKNOWN_WORDS = {
    'watch cartpole --pase 3': "watch: there is no option '--pase' (did you mean '--pace'?)",
    'watch cartpole --pase=3': "watch: there is no option '--pase' (did you mean '--pace'?)",
    'train cartpole --sett a=b': "train: there is no option '--sett' (did you mean '--set'?)",
    'eval run --record-env 3': "eval: there is no option '--record-env' (did you mean '--record-envs'?)",
    'play one two': "play: 'two' was not expected",
    'new pond big': "new: 'big' was not expected",
}

# Names and paths of environments.
NAMES = {
    'cartpol': r"cartpol: there is no such environment in .*/env_sources.* \(did you mean 'cartpole'\?\)",
    'zzz': r'zzz: there is no such environment in .*/env_sources.* \(there is: acrobot, cartpole, connect_four, .*pendulum.*\)',
    'nowhere/pole.cu': r'nowhere/pole\.cu: no such file',
    './env_sources': r'\./env_sources: is a directory, not an environment \(name a \.cu file\)',
    '': r'env\.source: no environment is named',
}

# Files in place of an environment: how they differ from cartpole.cu (or all that they hold), then
# what is said behind the file's name.
FILES = {
    'empty': (b'', r': error: the file is empty'),
    'noise': (bytes(range(256)) * 8, r':1: error: this is no text: it has NUL bytes'),
    'none': ([('NACELLE_ENV(CartPole)', '')], r': error: the file has no NACELLE_ENV\(Name\)'),
    'two': ([('NACELLE_ENV(CartPole)', 'NACELLE_ENV(CartPole)\nstruct Other {};\nNACELLE_ENV(Other)')],
            r':64: error: the file has two environments: CartPole and Other'),
    'semicolon': ([('s.x += p.dt * s.x_dot;', 's.x += p.dt * s.x_dot')], r":3[34]: error: expected ';'.*"),
    'member': ([('p.dt * s.x_dot', 'p.dt * s.xdot')], r':33: error: .*xdot.*'),
    'long': ([('struct State { float x', 'struct State { float big[1000]; float x')],
             r':62: error: State has an array of more than 64 elements: use nacelle::Array<T, sizes\.\.\.>, .*'),
    'bits': ([('struct State { float x', 'struct State { unsigned alive : 1; float x')],
             r':13: error: a bit-field cannot be an array: use a whole number \(uint8_t alive\)'),
    'team': ([('struct State {', 'struct Agent { float y; };\n    struct State {')],
             r":63: error: a team needs 'static constexpr int agents = \.\.\.', from 1 to 32768"),
}

WHOLE = r'expected a whole number from 1 to \d+, found'

# Configurations for cartpole, and what is said behind the file's name.
SETTINGS = {
    'truncated': ('{"env": {"count": 4', r":1:20: the file ends before the last '}'"),
    'empty': ('', r':1:1: the file is empty'),
    'twice': ('{"env": {"count": 1, "count": 2}}', r": 'env\.count' stands twice"),
    'key': ('{"env": {"conut": 4}}', r": env\.conut: env has no 'conut' \(did you mean 'count'\?\)"),
    'top': ('{"lerner": {}}', r": lerner: the configuration has no 'lerner' \(did you mean 'learner'\?\)"),
    'type': ('{"env": {"count": "many"}}', rf': env\.count: {WHOLE} "many"'),
    'negative': ('{"env": {"count": -4}}', rf': env\.count: {WHOLE} -4'),
    'fraction': ('{"env": {"count": 2.5}}', rf': env\.count: {WHOLE} 2\.5'),
    'param': ('{"env": {"params": {"gravty": 3}}}',
              r": env\.params\.gravty: CartPole has no parameter 'gravty' \(did you mean 'gravity'\?\)"),
    'bounds': ('{"env": {"params": {"gravity": {"uniform": [3, 1]}}}}',
               r': env\.params\.gravity\.uniform: low is above high: \[3,1\]'),
    'constant': ('{"env": {"constants": {"walls": 1}}}',
                 r": env\.constants\.walls: cartpole\.cu has no constant 'walls'"),
    'constant_type': ('{"env": {"constants": {"walls": "no"}}}',
                      r': env\.constants\.walls: expected a number, true or false, found "no"'),
}

# The same for what a plugin refuses: it names itself.
PLUGIN_SETTINGS = {
    'learner': ('{"learner": {"name": "alchemy"}}', r'alchemy: there is no such learner \(there is: .*random_search.*\)'),
    'setting': ('{"learner": {"elit": 0.2}}', r'.*: learner\.elit: ppo: there is no such setting \(there is: .*horizon.*\)'),
    'policy': ('{"policies": {"default": {"hiden": [8]}}}', r".*: policies\.default\.hiden: ppo: there is no such setting \(did you mean 'hidden'\?\)"),
    'another': ('{"learner": {"name": "random_search", "elit": 0.2}}',
                r".*: learner\.elit: random_search: there is no such setting \(did you mean 'elite'\?\)"),
    'ignored': ('{"learner": {"name": "random_search"}, "policies": {"default": {"hidden": [8]}}}',
                r'.*: policies: random_search: there is no such setting \(there is: .*\)'),
    'epochs': ('{"learner": {"name": "a2c", "epochs": 2}}', r'.*: learner\.epochs: a2c: .*'),
    'unseen': ('{"run": {"evaluate_every": 0}}', r'.*: run\.evaluate_every: is 0, so that nobody would see .*'),
    'sink': ('{"run": {"sinks": ["jsnol"]}}',
             r"jsnol: there is no such sink \((there is: csv, jsonl, tensorboard|did you mean 'jsonl'\?)\)"),
}

# What is no assignment is a wrong command line.
NO_ASSIGNMENTS = {
    'env.count': "--set env.count: has no '=' (env.params.gravity=3)",
    '=3': '--set =3: the path has an empty part (env.params.gravity=3)',
    'env..count=3': '--set env..count=3: the path has an empty part (env.params.gravity=3)',
}

ASSIGNMENTS = {
    'env.count=-5': rf'.*env\.count: {WHOLE} -5',
    'env.conut=5': r".*env\.conut: env has no 'conut' \(did you mean 'count'\?\)",
    'env.params.gravity=much': r'.*env\.params\.gravity: expected a number, found "much"',
}

# What only a compiled environment can tell.
MORE_ASSIGNMENTS = {
    'env.constants.walls=1': r".*env\.constants\.walls: cartpole\.cu has no constant 'walls'",
    'env.params.gravty=1': r".*env\.params\.gravty: CartPole has no parameter 'gravty' \(did you mean 'gravity'\?\)",
    'env.params.gravity={"uniform":[3,1]}': r'.*env\.params\.gravity\.uniform: low is above high: \[3,1\]',
}

TOO_MANY = (r'.*env\.count: CartPole takes \d+ bytes per environment; 1000000000 of them are .*, '
            r'and .* are free \(at most [1-9]\d* fit\)')
NO_COMPILER = (r'host backend: no C\+\+ compiler: tried \$CXX \(not set\), g\+\+, c\+\+, clang\+\+ on PATH '
               r"\(install one, for example with 'apt install g\+\+'\)")
