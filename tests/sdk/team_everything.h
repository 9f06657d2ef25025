#pragma once

namespace nacelle::test {

// Everything that the vocabulary of a team has, in one file: groups with their own actions and
// observations, every phase and question, bins, turns, masks, a critic's view, a log, tables.
inline constexpr const char* team_everything = R"(#include <nacelle/env.h>

struct Vec2 { float x, y; };
enum class Mood : uint8_t { calm, wild };

struct Chase {
    static constexpr int time_limit = nacelle::constant("time_limit", 9);
    static constexpr int hunters = nacelle::constant("hunters", 3), preys = nacelle::constant("preys", 37);
    using Grid = nacelle::Torus<4, 3>;

    struct Params {
        float speed = 0.1f, reach = 0.12f;
        Mood mood = Mood::wild;
        nacelle::Table<float, 12> rich;
    };
    struct State {
        int eaten, first, best, wild;
        float worth, nearest;
        nacelle::Array<uint8_t, 3, 4> grass;
    };
    struct FieldHunter {
        static constexpr int count = hunters;
        Vec2 at;
        Mood mood;
        int caught;
        nacelle::Array<int, 2, 2> notes;
        struct Action { nacelle::Discrete<5> gait; nacelle::Continuous<-1, 1> push[2]; };
        struct Obs { Vec2 at, prey[3]; int found; nacelle::Array<uint8_t, 3, 4> grass; };
    };
    struct Prey {
        static constexpr int count = preys, bins = Grid::cells;
        Vec2 at;
        bool alive;
        uint8_t rest;
        struct Action { nacelle::Discrete<4> go; };
        struct Obs { float x, y, friends, richness, time; };
    };
    using Agents = nacelle::Groups<FieldHunter, Prey>;
    struct Global { float worth, eaten, share; };
    struct Log { int eaten; float worth; };

    using Team = nacelle::Team<Chase>;
    using Hunter = nacelle::Member<Chase, FieldHunter>;
    using Hunted = nacelle::Member<Chase, Prey>;

    static int cell(const Vec2& at) { return Grid::cell(at.x, at.y); }
    static float inside(float v) {
        const float w = v - nacelle::floor(v);
        return w < 1.0f ? w : 0.0f;
    }
    static Vec2 anywhere(nacelle::Rng& rng) {
        const float x = rng.uniform();
        return {x, rng.uniform()};
    }
    static float squared(const Vec2& a, const Vec2& b) { return (a.x - b.x) * (a.x - b.x) + (a.y - b.y) * (a.y - b.y); }

    static void reset(Team& team, const Params& p) {
        team.once([&](State& s, nacelle::Rng& rng) {
            s.eaten = 0;
            s.first = s.best = -1;
            s.wild = rng.below(2);
            s.worth = s.nearest = 0;
        });
        team.over(12, [&](State& s, int i, nacelle::Rng& rng) { s.grass[i] = uint8_t(rng.below(200)); });
        team.each([&](Hunter& me, nacelle::Rng& rng) {
            me.at = anywhere(rng);
            me.mood = p.mood;
            me.caught = 0;
            me.notes.fill([&](int i, int j) { return 10 * i + j + me.id; });
        });
        team.each([&](Hunted& me, nacelle::Rng& rng) {
            me.at = anywhere(rng);
            me.alive = true;
            me.rest = uint8_t(me.id % 3);
        });
        team.sort([](const Hunted& m) { return cell(m.at); });
    }

    static nacelle::Ending step(Team& team, const Params& p) {
        team.each([&](Hunter& me) {
            const float speed = p.speed * (1.0f + 0.25f * float(me.action.gait.value));
            me.at = {inside(me.at.x + speed * me.action.push[0]), inside(me.at.y + speed * me.action.push[1])};
            me.notes(1, 1) += me.action.gait;
        });
        team.each([&](Hunted& me, nacelle::Rng& rng) {
            if (!me.alive) return;
            me.rest = uint8_t((me.rest + 1) % 3);
            const float push = me.acts ? p.speed : 0.0f, x = float(me.action.go == 1) - float(me.action.go == 2);
            me.at = {inside(me.at.x + push * x), inside(me.at.y + 0.01f * rng.normal())};
        });
        team.sort([](const Hunted& m) { return cell(m.at); });
        team.each([&](Hunted& me) {
            if (!me.alive) return;
            const auto near = team.nearest<1>([&](const Hunter& h) { return squared(h.at, me.at); });
            me.reward = 0.01f * p.rich(cell(me.at));
            if (near.key[0] < p.reach * p.reach) {
                me.alive = false;
                me.reward = -1;
            }
        });
        team.each([&](Hunter& me) {
            int close = 0;
            Grid::around(cell(me.at), [&](int first, int end) {
                team.bin<Prey>(first, end, [&](const Hunted& prey) { close += prey.alive; });
            });
            me.caught += close;
            me.reward = float(close) + 0.001f * me.at.x;
        });
        team.over(12, [&](State& s, int i) {
            int here = 0;
            team.bin<Prey>(i, [&](const Hunted& prey) { here += prey.alive; });
            s.grass[i] = uint8_t(nacelle::max(0, int(s.grass[i]) - here));
        });
        const float worth = team.sum([&](const Hunted& m) { return m.alive ? m.at.x + p.rich(cell(m.at)) : 0.0f; });
        const int alive = team.count([](const Hunted& m) { return m.alive; });
        const int first = team.first([](const Hunted& m) { return !m.alive; });
        const int best = team.best([](const Hunter& m) { return float(m.caught); });
        const bool dense = team.any([](const Hunter& m) { return m.reward > 20.0f; });
        const auto near = team.nearest<2>([](const Hunted& m) { return m.alive ? m.at.y : -1.0f; });
        team.once([&](State& s, nacelle::Rng& rng) {
            s.eaten = preys - alive;
            s.first = first;
            s.best = best;
            s.wild += dense + rng.below(3);
            s.worth = worth;
            s.nearest = near.count ? near.key[near.count - 1] : -1.0f;
        });
        if (alive == 0) return nacelle::Ending::terminated;
        return s_of(team).wild > 25 ? nacelle::Ending::truncated : nacelle::Ending::running;
    }
    static const State& s_of(const Team& team) { return team.state(); }

    static nacelle::Turn turn(const Team&, const Hunted& me, const Params&) {
        return !me.alive ? nacelle::Turn::out : me.rest == 0 ? nacelle::Turn::waits : nacelle::Turn::acts;
    }
    static void mask(const Team& team, const Hunter& me, const Params&, nacelle::Mask<FieldHunter::Action>& allow) {
        allow.forbid(&FieldHunter::Action::gait, (me.id + team.state().wild) % 5);
    }
    static void mask(const Team&, const Hunted& me, const Params&, nacelle::Mask<Prey::Action>& allow) {
        if (me.at.x < 0.5f) allow.only(&Prey::Action::go, 1);
    }
    static void observe(const Team& team, const Hunter& me, const Params&, FieldHunter::Obs& o) {
        o.at = me.at;
        for (Vec2& one : o.prey) one = {-1, -1};
        const auto near = team.nearest<3>([&](const Hunted& m) { return m.alive ? squared(m.at, me.at) : -1.0f; });
        near.each([&](int place, int id) { o.prey[place] = team.get<Prey>(id).at; });
        o.found = near.count;
        o.grass.fill([&](int y, int x) { return uint8_t(team.state().grass(y, x) + me.id); });
    }
    static Prey::Obs observe(const Team& team, const Hunted& me, const Params& p) {
        int friends = 0;
        team.bin<Prey>(cell(me.at), [&](const Hunted& m) { friends += m.alive && m.id != me.id; });
        return {me.at.x, me.at.y, float(friends), p.rich(cell(me.at)), float(team.episode().step)};
    }
    static Log report(const Team& team, const Params&) { return {team.state().eaten, team.state().worth}; }
    static Global overview(const Team& team, const Params&) {
        const State& s = team.state();
        return {s.worth, float(s.eaten), float(s.eaten) / float(preys)};
    }
    static void draw(nacelle::Canvas& c, const Team& team, const Params&) {
        for (int i = 0; i < preys; ++i) c.disc(team.get<Prey>(i).at.x, team.get<Prey>(i).at.y, 0.01f, nacelle::colours::green);
    }
    static void prepare(Params& p) { p.rich.fill([](int i) { return 0.125f * float(i * i % 7); }); }
};
NACELLE_ENV(Chase)
)";

}
