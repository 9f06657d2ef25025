// Tag on a grid: some taggers chase one runner, and whoever stands on its cell has caught it.
//
// Cells are 0 .. length in x and in y. All move at once; the edge stops a move, which costs
// wall_hit_penalty. The episode ends when a tagger stands on the runner's cell after the move: all
// taggers are rewarded then. Until then every step costs the taggers what it pays the runner.
#include <nacelle/env.h>

struct TagGridworld {
    static constexpr int taggers = nacelle::constant("taggers", 4);
    static constexpr int length = nacelle::constant("length", 100);
    static constexpr bool observe_all = nacelle::constant("observe_all", true);
    static constexpr int time_limit = nacelle::constant("time_limit", 100);
    static constexpr int agents = taggers + 1, runner = taggers;    // the runner's id is the last
    enum class Policy { tagger, runner };

    struct Params {
        float wall_hit_penalty = 0.1f, tag_reward_for_tagger = 10, tag_penalty_for_runner = 5;
        float step_cost_for_tagger = 0.01f;
        bool random_starts = false;                         // else the centre against a corner
    };
    struct State { int nearest; };                          // which tagger is nearest to the runner
    struct Agent { int x, y; };
    struct Action { nacelle::Discrete<5> move; };           // stay, x + 1, x - 1, y + 1, y - 1
    struct Everybody { float x[agents], y[agents], type[agents], self[agents], time; };
    struct Opponent { float x, y, other_x, other_y, type, time; };
    using Obs = decltype([] {
        if constexpr (observe_all) return Everybody{};
        else return Opponent{};
    }());
    struct Log { float caught; };

    using Team = nacelle::Team<TagGridworld>;
    using Member = nacelle::Member<TagGridworld>;

    static constexpr Policy policy(int id) {
        return id < taggers ? Policy::tagger : Policy::runner;
    }

    static void reset(Team& team, const Params& p) {
        team.each([&](Member& me, nacelle::Rng& rng) {
            const int start = me.id == runner ? 0 : length / 2;
            me.x = p.random_starts ? 1 + rng.below(length - 1) : start;
            me.y = p.random_starts ? 1 + rng.below(length - 1) : start;
        });
        find_nearest(team);
    }

    static nacelle::Ending step(Team& team, const Params& p) {
        team.each([&](Member& me) {
            const int move = me.action.move;
            const int x = me.x + (move == 1) - (move == 2), y = me.y + (move == 3) - (move == 4);
            me.x = nacelle::clamp(x, 0, length);
            me.y = nacelle::clamp(y, 0, length);
            me.reward = x == me.x && y == me.y ? 0.0f : -p.wall_hit_penalty;
        });

        find_nearest(team);
        const bool tagged = caught(team);
        const float for_tagger = tagged ? p.tag_reward_for_tagger : -p.step_cost_for_tagger;
        const float for_runner = tagged ? -p.tag_penalty_for_runner : p.step_cost_for_tagger;
        team.each([&](Member& me) { me.reward += me.id == runner ? for_runner : for_tagger; });
        return tagged ? nacelle::Ending::terminated : nacelle::Ending::running;
    }

    // By squared distance, the first of equals.
    static void find_nearest(Team& team) {
        const Member& it = team[runner];
        const int nearest = team.best([&](const Member& m) {
            const int x = m.x - it.x, y = m.y - it.y;
            return m.id == runner ? -1e30f : -float(x * x + y * y);
        });
        team.once([&](State& s) { s.nearest = nearest; });
    }
    static bool caught(const Team& team) {
        const Member &it = team[runner], &other = team[team.state().nearest];
        return other.id != runner && other.x == it.x && other.y == it.y;
    }

    static void observe(const Team& team, const Member& me, const Params&, Everybody& obs) {
        // Several are read before one is written: to a compiler a write may change what is read.
        constexpr int together = nacelle::min(agents, 8);
        const int self = me.id;
        for (int first = 0; first < agents; first += together) {
            int x[together], y[together];
            for (int k = 0; k < together; ++k) {
                const Member& m = team[nacelle::min(first + k, agents - 1)];
                x[k] = m.x;
                y[k] = m.y;
            }
            for (int k = 0; k < together && first + k < agents; ++k) {
                obs.x[first + k] = share(x[k]);
                obs.y[first + k] = share(y[k]);
                obs.type[first + k] = float(first + k == runner);
                obs.self[first + k] = float(first + k == self);
            }
        }
        obs.time = time(team);
    }
    static void observe(const Team& team, const Member& me, const Params&, Opponent& obs) {
        const Member& other = team[me.id == runner ? team.state().nearest : runner];
        obs = {share(me.x), share(me.y), share(other.x), share(other.y),
               float(me.id == runner), time(team)};
    }
    static float share(int place) { return float(place) / float(length); }
    static float time(const Team& team) { return float(team.episode().step) / float(time_limit); }

    static Log report(const Team& team, const Params&) { return {float(caught(team))}; }

    static void draw(nacelle::Canvas& canvas, const Team& team, const Params&) {
        const float margin = 0.04f * length, end = length + 1;
        canvas.view(-margin, -margin, end + margin, end + margin);
        canvas.box(0, 0, end, end, nacelle::colours::white);
        for (int i = 0; i < agents; ++i) {
            const float x = float(team[i].x) + 0.5f, y = float(team[i].y) + 0.5f;
            canvas.disc(x, y, 0.01f * length + 0.4f,
                        i == runner ? nacelle::colours::green : nacelle::colours::red);
        }
    }
};
NACELLE_ENV(TagGridworld)
