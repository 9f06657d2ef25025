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
    for what in ('obs has numbers as large as', 'values are to be about'):
        assert what in told and what in seen, told + seen
    # A checkpoint has the masks of one step, which do not tell it.
    assert 'mask closes choice 2 of action.way in all of 16448 rows of 257 steps' in told and 'mask closes' not in seen, told + seen


HERMIT = """#include <nacelle/env.h>
struct Hermit {
    static constexpr int agents = 1, time_limit = 30;
    struct Params { int acts = 1; };
    struct State { int open; };
    struct Agent { int at; };
    struct Action { nacelle::Discrete<3> say; nacelle::Discrete<60> go; };
    struct Obs { float open; };
    using Team = nacelle::Team<Hermit>;
    using Member = nacelle::Member<Hermit>;
    static void reset(Team& team, const Params&) {
        team.each([](Member& me) { me.at = 0; });
        team.once([](State& s, nacelle::Rng& rng) { s.open = rng.below(59); });
    }
    static nacelle::Ending step(Team& team, const Params&) {
        team.each([](Member& me) { me.at = me.action.go; me.reward = float(int(me.action.say) == me.at % 3); });
        team.once([](State& s, nacelle::Rng& rng) { s.open = rng.below(59); });
        return nacelle::Ending::running;
    }
    static nacelle::Turn turn(const Team&, const Member&, const Params& p) { return p.acts ? nacelle::Turn::acts : nacelle::Turn::waits; }
    static void mask(const Team& team, const Member&, const Params&, nacelle::Mask<Action>& allow) { allow.only(&Action::go, team.state().open); }
    static Obs observe(const Team& team, const Member&, const Params&) { return {float(team.state().open % 3)}; }
};
NACELLE_ENV(Hermit)
"""


@case
@plain_only('what is told follows from numbers that are the same there')
def a_mask_that_moves_is_told_for_what_it_never_opens_and_a_team_that_never_acts_for_that(bench):
    bench.write('hermit.cu', HERMIT)
    words = (*CPU, '--episodes', '5', *setting(env__count=64, learner__horizon=32, run__total_steps=40 * 2048, run__report_every=1,
                                               run__evaluate_every=0))

    def suspected(out, **settings):
        result = bench.lines('train', './hermit.cu', *words, *setting(**settings), '--out', out)[-1]
        return '; '.join(one['what'] for one in result.get('suspicious', []))

    moving = suspected('moving').split('; ')
    assert [what for what in moving if 'mask' in what] == ['mask closes choice 59 of action.go in all of 16448 rows of 257 steps'], moving
    assert suspected('idle', env__params__acts=0) == 'no agent acted, so that there was nothing to learn from'
    assert 'suspicious: no agent acted' in bench.good('inspect', 'idle')
    # Its one update an iteration is by the policy that has acted.
    assert 'kl' not in suspected('once', learner__name='a2c')


raise SystemExit(main())
