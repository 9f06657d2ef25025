// Two groups with actions and observations of their own; one of them acts every third step.
#include <nacelle/env.h>

struct Trades {
    static constexpr int time_limit = 10;
    struct Params { float end_chance = 0.05f; };
    struct State { float price; bool over; };
    struct Maker {
        static constexpr int count = 3;
        float stock;
        struct Action { nacelle::Discrete<4> makes; };
        struct Obs { float stock, price; };
    };
    struct Setter {
        static constexpr int count = 1;
        float wish;
        struct Action { nacelle::Continuous<0, 2> price; nacelle::Continuous<> tax; };
        struct Obs { float price, stocks, wish, one; };
    };
    using Agents = nacelle::Groups<Maker, Setter>;
    using Team = nacelle::Team<Trades>;
    using Seller = nacelle::Member<Trades, Maker>;
    using Chief = nacelle::Member<Trades, Setter>;

    static void reset(Team& team, const Params&) {
        team.once([](State& s, nacelle::Rng& rng) { s = {rng.uniform(0.5f, 1.5f), false}; });
        team.each([](Seller& me, nacelle::Rng& rng) { me.stock = rng.uniform(0.0f, 3.0f); });
        team.each([](Chief& me, nacelle::Rng& rng) { me.wish = rng.normal(); });
    }
    static nacelle::Ending step(Team& team, const Params& p) {
        team.each([&](Seller& me, nacelle::Rng& rng) {
            me.stock = 0.8f * me.stock + 0.3f * float(me.action.makes) + 0.2f * rng.normal();
            me.reward = me.stock * team.state().price - 0.3f * float(me.action.makes * me.action.makes);
        });
        const float sum = team.sum([](const Seller& m) { return m.stock; });
        const Chief& chief = team.get<Setter>(0);
        const float asked = chief.acts ? float(chief.action.price) : team.state().price;
        team.once([&](State& s, nacelle::Rng& rng) {
            s.price = 0.6f * s.price + 0.3f * asked + 0.1f * rng.normal();
            s.over = rng.chance(p.end_chance);
        });
        team.each([&](Chief& me) {
            const float off = team.state().price - me.wish;
            me.reward = 0.1f * sum - off * off + 0.2f * me.action.tax;
        });
        return team.state().over ? nacelle::Ending::terminated : nacelle::Ending::running;
    }
    static nacelle::Turn turn(const Team& team, const Chief&, const Params&) {
        return team.episode().step % 3 == 0 ? nacelle::Turn::acts : nacelle::Turn::waits;
    }
    static Maker::Obs observe(const Team& team, const Seller& me, const Params&) {
        return {me.stock, team.state().price};
    }
    static Setter::Obs observe(const Team& team, const Chief& me, const Params&) {
        float stocks = 0;
        for (int i = 0; i < Maker::count; ++i) stocks += team.get<Maker>(i).stock;
        return {team.state().price, stocks, me.wish, 1.0f};
    }
};
NACELLE_ENV(Trades)
