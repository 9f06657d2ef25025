// Tag in a square: taggers chase runners, who leave the game when they are caught.
//
// Agents steer by acceleration and turn, and see their nearest neighbours or, with observe_all,
// everybody. A runner is tagged when its nearest tagger is nearer than tagging_distance * length.
// The episode ends when no runner is left, or at the time limit, which rewards the runners left.
#include <nacelle/env.h>

struct TagContinuous {
    static constexpr int taggers = nacelle::constant("taggers", 5);
    static constexpr int runners = nacelle::constant("runners", 100);
    static constexpr int acceleration_levels = nacelle::constant("acceleration_levels", 10);
    static constexpr int turn_levels = nacelle::constant("turn_levels", 10);
    static constexpr int neighbours = nacelle::constant("neighbours", 10);
    static constexpr bool observe_all = nacelle::constant("observe_all", false);
    static constexpr int time_limit = nacelle::constant("time_limit", 500);
    static constexpr int agents = taggers + runners, nobody = -1;
    static constexpr float whole_turn = 2.0f * nacelle::pi;
    enum class Policy { tagger, runner };

    struct Params {
        float length = 20, max_speed = 1, max_acceleration = 0.1f, max_turn = 2.356f;
        float tagger_skill = 1, runner_skill = 1, edge_hit_penalty = 0, tagging_distance = 0.02f;
        float tag_reward_for_tagger = 10, tag_penalty_for_runner = -10, step_penalty_for_tagger = 0;
        float step_reward_for_runner = 0, end_of_game_reward_for_runner = 1;
        bool runner_exits = true;
    };
    struct State { int tags, lived; };                      // in this episode; lived: steps of the runners tagged
    struct Agent {
        float x, y, speed, direction, acceleration;
        bool in_game, seen;                                 // seen: before this step's tagging
        int16_t tagged_by;                                  // in this step
    };
    struct Action {                                         // 0 leaves all as it is
        nacelle::Discrete<acceleration_levels + 1> accelerate;
        nacelle::Discrete<turn_levels + 1> turn;
    };
    struct Other { float x, y, speed, acceleration, direction, type, in_game; };
    struct Obs { Other other[observe_all ? agents - 1 : neighbours]; float time; };
    struct Log { float tags, life; };                       // life: mean steps until a runner is tagged

    using Team = nacelle::Team<TagContinuous>;
    using Member = nacelle::Member<TagContinuous>;

    static constexpr Policy policy(int id) {
        return id < taggers ? Policy::tagger : Policy::runner;
    }
    static bool is_tagger(const Member& m) { return m.id < taggers; }
    static nacelle::Turn turn(const Team&, const Member& me, const Params&) {
        return me.in_game ? nacelle::Turn::acts : nacelle::Turn::out;
    }

    static void reset(Team& team, const Params& p) {
        team.each([&](Member& me, nacelle::Rng& rng) {
            me.x = rng.uniform(0, p.length);
            me.y = rng.uniform(0, p.length);
            me.direction = 0.25f * whole_turn * float(rng.below(4));
            me.speed = me.acceleration = 0;
            me.in_game = me.seen = true;
            me.tagged_by = nobody;
        });
        team.once([](State& s) { s = {}; });
    }

    static nacelle::Ending step(Team& team, const Params& p) {
        team.each([&](Member& me) { move(me, p); });

        const bool last = team.episode().step == time_limit;
        team.each([&](Member& me) {
            if (is_tagger(me) || !me.in_game) return;
            me.tagged_by = tagger_of(team, me, p.tagging_distance * p.length);
            if (me.tagged_by != nobody) {
                me.reward += p.tag_penalty_for_runner;
                me.in_game = !p.runner_exits;
            } else if (last) me.reward += p.end_of_game_reward_for_runner;
        });
        const int tags = team.count([](const Member& m) { return m.tagged_by != nobody; });
        if (tags == 0) return nacelle::Ending::running;

        const int step = team.episode().step;
        team.once([&](State& s) {
            s.tags += tags;
            s.lived += tags * step;
        });
        team.each([&](Member& me) {                         // nobody writes for another
            if (!is_tagger(me)) return;
            for (int i = taggers; i < agents; ++i)
                if (team[i].tagged_by == me.id) me.reward += p.tag_reward_for_tagger;
        });
        const bool more = team.any([](const Member& m) { return !is_tagger(m) && m.in_game; });
        return more ? nacelle::Ending::running : nacelle::Ending::terminated;
    }

    static void move(Member& me, const Params& p) {
        const float here = me.in_game ? 1.0f : 0.0f;
        const float top = p.max_speed * (is_tagger(me) ? p.tagger_skill : p.runner_skill);
        me.acceleration += level(me.action.accelerate, acceleration_levels, p.max_acceleration);
        const float turn = level(me.action.turn, turn_levels, p.max_turn);
        const float direction = nacelle::fmod(me.direction + turn, whole_turn);
        me.direction = here * (direction < 0 ? direction + whole_turn : direction);
        me.speed = here * nacelle::clamp(me.speed + me.acceleration, 0.0f, top);
        if (me.speed <= 0 || me.speed >= top) me.acceleration = 0;

        const float x = me.x + me.speed * nacelle::cos(me.direction);
        const float y = me.y + me.speed * nacelle::sin(me.direction);
        me.x = nacelle::clamp(x, 0.0f, p.length);
        me.y = nacelle::clamp(y, 0.0f, p.length);
        const float step = is_tagger(me) ? p.step_penalty_for_tagger : p.step_reward_for_runner;
        me.reward = here * (x == me.x && y == me.y ? step : step + p.edge_hit_penalty);
        me.tagged_by = nobody;
        me.seen = me.in_game;
    }
    // Choices 1 .. levels are evenly spaced from -most to most.
    static float level(int choice, int levels, float most) {
        const float apart = 2.0f * most / float(nacelle::max(levels - 1, 1));
        return choice == 0 ? 0.0f : float(choice - 1) * apart - most;
    }
    static int16_t tagger_of(const Team& team, const Member& me, float reach) {
        float nearest = reach * reach;
        int found = nobody;
        for (int i = 0; i < taggers; ++i) {
            const float squared = distance_squared(team[i], me);
            if (squared < nearest) found = i;
            nearest = nacelle::min(nearest, squared);
        }
        return int16_t(found);
    }
    static float distance_squared(const Member& a, const Member& b) {
        return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y);
    }

    // What is seen is the game before this step's tagging; who was out already sees nothing.
    static void observe(const Team& team, const Member& me, const Params& p, Obs& obs) {
        if (!observe_all || !me.seen) obs = {};
        if (!me.seen) return;
        obs.time = float(team.episode().step) / float(time_limit);
        for (int i = 0; observe_all && i < agents; ++i)
            if (i != me.id) obs.other[i - (i > me.id)] = seen_by(me, team[i], p);
        if (observe_all) return;
        const auto near = team.nearest<neighbours>([&](const Member& m) {
            const float squared = distance_squared(m, me);    // no branch
            return (m.id != me.id) & m.seen ? squared : -1.0f;
        });
        near.each([&](int place, int id) { obs.other[place] = seen_by(me, team[id], p); });
    }
    static Other seen_by(const Member& me, const Member& m, const Params& p) {
        const float diagonal = nacelle::sqrt(2.0f) * p.length;
        return {.x = (m.x - me.x) / diagonal, .y = (m.y - me.y) / diagonal,
                .speed = (m.speed - me.speed) / p.max_speed,
                .acceleration = (m.acceleration - me.acceleration) / p.max_speed,
                .direction = (m.direction - me.direction) / whole_turn,
                .type = float(!is_tagger(m)), .in_game = float(m.seen)};
    }

    static Log report(const Team& team, const Params&) {
        const State& s = team.state();
        const int left = nacelle::max(runners - s.tags, 0), lived = s.lived + left * team.episode().step;
        return {float(s.tags), float(lived) / float(nacelle::max(runners, s.tags))};
    }

    static void draw(nacelle::Canvas& canvas, const Team& team, const Params& p) {
        canvas.view(-0.02f * p.length, -0.02f * p.length, 1.02f * p.length, 1.02f * p.length);
        for (int i = 0; i < agents; ++i) {
            const auto colour = i < taggers ? nacelle::colours::red : nacelle::colours::green;
            if (team[i].in_game) canvas.disc(team[i].x, team[i].y, 0.01f * p.length, colour);
        }
    }
};
NACELLE_ENV(TagContinuous)
