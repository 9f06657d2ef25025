"""What `train` and `inspect` call suspicious, of runs that were made to be so."""
from bench import CPU, case, main, plain_only, setting


@case
@plain_only('what is told follows from numbers that are the same there')
def what_is_suspicious_is_told_with_what_to_try(bench):
    words = (*CPU, '--episodes', '5', *setting(env__count=64, learner__horizon=32, run__total_steps=40 * 2048, run__report_every=1,
                                               run__evaluate_every=0, run__stagger='false', solved__return='null'))
    def suspected(name, **settings):
        result = bench.lines('train', 'cartpole', *words, *setting(**settings), '--out', name)[-1]
        assert all(one['try'] for one in result.get('suspicious', [])), result
        return '; '.join(one['what'] for one in result.get('suspicious', []))

    assert suspected('usual') == ''
    assert 'kl is ' in suspected('wild', learner__learning_rate=0.5)
    assert 'suspicious: kl is ' in bench.good('inspect', 'wild') and 'suspicious:' not in bench.good('inspect', 'usual')
    assert 'clip_fraction is ' in suspected('tight', learner__clip=1e-6, learner__learning_rate=0.01)
    assert 'kl was never above' in suspected('still', learner__learning_rate=1e-12)
    assert 'entropy fell from' in suspected('sure', learner__entropy=-1, learner__learning_rate=0.01)
    assert 'explained_variance is -' in suspected('blind', learner__value_weight=0)
    # Who has reached what was wanted need not hear of it.
    assert suspected('solved', learner__learning_rate=0.5, solved__return=1, run__evaluate_every=40 * 2048) == ''
    assert 'suspicious:' not in bench.good('inspect', 'solved')


ODD = """#include <nacelle/env.h>
struct Odd {
    static constexpr int time_limit = 5;
    struct Params {};
    struct State { float x; };
    struct Action { nacelle::Discrete<3> way; nacelle::Continuous<-1, 1> push; };
    struct Obs { float far; };
    static void reset(State& s, const Params&, nacelle::Rng& rng) { s = {rng.uniform(-1.0f, 1.0f)}; }
    static nacelle::Outcome step(State&, const Action& a, const Params&, nacelle::Rng& rng) {
        return {.reward = 1e6f * (nacelle::abs(float(a.push)) > 0.999f ? 1.0f : 0.0f) + rng.uniform()};
    }
    static Obs observe(const State& s, const Params&) { return {5e4f * s.x}; }
    static void mask(const State&, const Params&, nacelle::Mask<Action>& allow) { allow.forbid(&Action::way, 2); }
};
NACELLE_ENV(Odd)
"""


@case
@plain_only('what is told follows from numbers that are the same there')
def arrays_of_a_scale_that_cannot_be_learned_are_told_with_what_to_try(bench):
    bench.write('odd.cu', ODD)
    words = setting(env__count=64, learner__horizon=16, run__total_steps=40 * 1024, run__report_every=1, run__evaluate_every=0,
                    learner__normalise_observations='false', learner__normalise_returns='false', learner__learning_rate=0.05)
    result = bench.lines('train', './odd.cu', *CPU, *words, '--episodes', '5', '--out', 'odd')[-1]
    told = '; '.join(one['what'] for one in result['suspicious'])
    seen = bench.good('inspect', 'odd')
    for what in ('obs has numbers as large as', 'mask closes choice 2 in all of 64 rows', 'values are to be about'):
        assert what in told and what in seen, told + seen


raise SystemExit(main())
