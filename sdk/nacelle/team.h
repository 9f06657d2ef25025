#pragma once
#include <nacelle/device/team/bins.h>
#include <nacelle/device/team/frozen.h>
#include <nacelle/neighbours.h>
// Environments whose agents act together. An author writes phases, never barriers: on a GPU a phase is
// threads and a barrier, on a CPU a loop.

namespace nacelle {
namespace detail {

template <class Fn> struct FirstParameter;
template <class C, class R, class A, class... B> struct FirstParameter<R (C::*)(A, B...) const> {
    using type = bare<A>;
};
template <class C, class R, class A, class... B> struct FirstParameter<R (C::*)(A, B...)> {
    using type = bare<A>;
};
// The group that a lambda's first parameter names: [&](Member<Economy, Governor>& me) ...
template <class E, class Fn> struct GroupNamed {
    static_assert(
        GroupsOf<E>::count == 1,
        "with several groups the lambda names its member's type: [&](Member<E, Group>& me)");
    using type = Sole<E>;
};
template <class E, class Fn>
requires requires { &Fn::operator(); }
struct GroupNamed<E, Fn> {
    template <class First> struct Of { using type = Sole<E>; };
    template <class First>
    requires requires { typename First::group; }
    struct Of<First> {
        using type = typename First::group;
    };
    using type = typename Of<typename FirstParameter<decltype(&Fn::operator())>::type>::type;
};
template <class E, class Fn> using GroupOfFn = typename GroupNamed<E, bare<Fn>>::type;

template <class Fn, class... A>
concept Calls = requires(bare<Fn>& fn, A&... a) {
    fn(a...);
};

// Where a team's random numbers come from: the environment's place in the run, and the tick.
struct Source {
    uint64_t seed, tick;
    Domain domain;
    uint32_t env;
};

}

template <class E> class Team {
public:
    NACELLE_INLINE Team(detail::TeamMemory<E>& memory, const detail::TeamThreads<E>& threads,
                        const Episode& episode, const detail::Source& source)
        : memory_(memory), threads_(threads), episode_(episode), source_(source) {}

    NACELLE_INLINE const StateOf<E>& state() const { return seen().state; }
    NACELLE_INLINE const Episode& episode() const { return episode_; }
    template <class G> NACELLE_INLINE const Member<E, G>& get(int id) const {
        detail::check_index("the agents of a group", id, detail::count_of<E, G>);
        return known<Member<E, G>>(detail::member_of(seen().template group<G>(), id), id);
    }
    // The same for a member that bin() gave: it is looked for first where it lay then.
    template <class G> NACELLE_INLINE const Member<E, G>& get(Spot spot) const {
        detail::check_index("the agents of a group", spot, detail::count_of<E, G>);
        return known<Member<E, G>>(detail::member_of(seen().template group<G>(), spot), spot);
    }
    NACELLE_INLINE const Member<E>& operator[](int id) const { return get<detail::Sole<E>>(id); }
    NACELLE_INLINE const Member<E>& operator[](Spot spot) const {
        return get<detail::Sole<E>>(spot);
    }

    // fn(me) or fn(me, rng) for every agent of the group that fn's first parameter names. It writes its
    // own member alone, and reads only what no agent writes in this phase.
    template <class Fn> NACELLE_INLINE void each(Fn&& fn) {
        using G = detail::GroupOfFn<E, Fn>;
        begin();
        constexpr auto weight =
            detail::has_bins<E, G> ? detail::Weight::heavy : detail::Weight::usual;
        threads_.template spread_over<detail::count_of<E, G>, weight>([&](int k) {
            auto& members = memory_.template group<G>();
            const int i = detail::visited_at(members, k);
            [[maybe_unused]] const detail::OwnOnly<E, G> own(frozen_, memory_, i);
            Member<E, G>& me = detail::visited_member(members, k);
            known<Member<E, G>>(me, i);
            if constexpr (detail::Calls<Fn, Member<E, G>, Rng>) {
                constexpr int group = detail::group_index<E, G>();
                Rng rng =
                    stream(source_.env * uint32_t(detail::count_of<E, G>) + uint32_t(i), 1 + group);
                fn(me, rng);
            } else fn(me);
        });
        end(detail::Phase::each);
    }
    // fn(state) or fn(state, rng), once for the team: the one place that writes State.
    template <class Fn> NACELLE_INLINE void once(Fn&& fn) {
        begin();
        if (threads_.lane == 0) {
            if constexpr (detail::Calls<Fn, StateOf<E>, Rng>) {
                Rng rng = stream(source_.env, 0);
                fn(memory_.state, rng);
            } else fn(memory_.state);
        }
        end(detail::Phase::once);
    }
    // fn(state, i) or fn(state, i, rng) for every i below n: work over cells, edges, goods. It writes
    // what belongs to i alone.
    template <class Fn> NACELLE_INLINE void over(int n, Fn&& fn) {
        begin();
        if constexpr (detail::Calls<Fn, StateOf<E>, int, Rng>) {
            Rng key = stream(source_.env, 7);
            const uint64_t low = key.bits(), seed = uint64_t(key.bits()) << 32 | low;
            threads_.spread(n, [&](int i) {
                Rng rng(seed, source_.domain, 0, uint32_t(i));
                fn(memory_.state, i, rng);
            });
        } else threads_.spread(n, [&](int i) { fn(memory_.state, i); });
        end(detail::Phase::over);
    }

    // Questions put to every agent of a group. All threads get the same answer, and its bits do not
    // depend on their number.
    template <class Fn> NACELLE_INLINE float sum(Fn&& fn) {
        return ask<Fn>(
            -0.0f, [&](const auto& m) { return float(fn(m)); },
            [](float a, float b) { return a + b; });
    }
    template <class Fn> NACELLE_INLINE int count(Fn&& fn) {
        return ask_any<Fn>(
            0, [&](const auto& m) { return fn(m) ? 1 : 0; }, [](int a, int b) { return a + b; });
    }
    template <class Fn> NACELLE_INLINE bool any(Fn&& fn) {
        return count(static_cast<Fn&&>(fn)) > 0;
    }
    // The lowest id for which fn holds, or -1.
    template <class Fn> NACELLE_INLINE int first(Fn&& fn) {
        constexpr int nobody = 0x7fffffff;
        const int found = ask_any<Fn>(
            nobody, [&](const auto& m) { return fn(m) ? int(m.id) : nobody; },
            [](int a, int b) { return min(a, b); });
        return found == nobody ? -1 : found;
    }
    // The id with the highest value, the first of equals. What is not a number is below all numbers.
    template <class Fn> NACELLE_INLINE int best(Fn&& fn) {
        const uint64_t found = ask_any<Fn>(
            uint64_t(0),
            [&](const auto& m) {
                return uint64_t(ordered(float(fn(m)))) << 32 | uint32_t(0x7fffffff - m.id);
            },
            [](uint64_t a, uint64_t b) { return max(a, b); });
        return 0x7fffffff - int(uint32_t(found));
    }

    // Inside a phase: the K members with the smallest key(other), ties by id; a negative key leaves one
    // out. A key may be asked for more than once.
    template <int K, class Fn> NACELLE_INLINE Nearest<K> nearest(Fn&& key) const {
        using G = detail::GroupOfFn<E, Fn>;
        constexpr int count = detail::count_of<E, G>;
        const auto of = [&](int i) NACELLE_INLINE_LAMBDA { return float(key(get<G>(i))); };
        if constexpr (NACELLE_GPU && detail::bound_pays<K, count>)
            return detail::nearest_by_bound<K, count>(of);
        else return detail::nearest_by_offers<K, count>(of);
    }

    // Sorts a group into its bins: bin_of(member) is one of 0 .. bins-1.
    template <class Fn> NACELLE_INLINE void sort(Fn&& bin_of) {
        using G = detail::GroupOfFn<E, Fn>;
        begin();
        detail::sort_bins<E, G>(memory_, threads_, partial_, bin_of);
        end(detail::Phase::sort);
    }
    // Inside a phase: fn(member) or fn(member, spot) for the members of the group that the last sort put
    // into a bin, or into the bins from `first` up to `end`; in the order of the bins, and in a bin by id.
    template <class G = detail::Sole<E>, class Fn>
    NACELLE_INLINE void bin(int which, Fn&& fn) const {
        bin<G>(which, which + 1, static_cast<Fn&&>(fn));
    }
    template <class G = detail::Sole<E>, class Fn>
    NACELLE_INLINE void bin(int first, int end, Fn&& fn) const {
        detail::check_index("the bins of a group", first, detail::bins_in<E, G>);
        detail::check_index("the bins of a group", end - 1, detail::bins_in<E, G>);
        const auto& members = seen().template group<G>();
        const int begin = members.start[first], last = members.start[end];
        walk_bins<G>(members, begin, last, fn);
    }

private:
    template <class G, class Fn>
    NACELLE_INLINE void walk_bins(const detail::GroupMemory<E, G>& members, int begin, int last,
                                  Fn& fn) const {
        // The places of the next members are loaded two members ahead.
        const int most = detail::count_of<E, G> - 1;
        int here = members.at[min(begin, most)], next = members.at[min(begin + 1, most)];
        NACELLE_ROLLED for (int k = begin; k < last; ++k) {
            const int i = here;
            here = next;
            next = members.at[min(k + 2, most)];
            const Member<E, G>& member = members.member[i];
            if constexpr (!detail::moves<E, G>) known<Member<E, G>>(member, i);
            if constexpr (detail::Calls<Fn, const Member<E, G>, const Spot>)
                fn(member, detail::moves<E, G> ? detail::Places::spot(member.id, i) : Spot(i));
            else fn(member);
        }
    }
    // Tells the compiler that the member has this id, so that it need not be loaded.
    template <class M>
    static NACELLE_INLINE const M& known(const M& member, [[maybe_unused]] int id) {
#if defined(__CUDACC_RTC__)
        __builtin_assume(member.id == id);
#endif
        return member;
    }
    // A float's bits in the order of the numbers.
    static NACELLE_INLINE uint32_t ordered(float x) {
        const uint32_t bits = detail::bits_of(x + 0.0f);    // -0 and 0 are equals
        return x == x ? (bits >> 31 ? ~bits : bits | 0x80000000u) : 0;
    }
    template <class G, class Value> NACELLE_INLINE auto asked(Value& value) {
        detail::check_outside(inside_);
        return [this, &value](int i) {
            return value(known<Member<E, G>>(detail::member_of(memory_.template group<G>(), i), i));
        };
    }
    // The same of the member at place k, for answers that do not depend on the order.
    template <class G, class Value> NACELLE_INLINE auto asked_in_place(Value& value) {
        if constexpr (!detail::moves<E, G>) return asked<G>(value);
        else {
            detail::check_outside(inside_);
            return [this, &value](int k) {
                const Member<E, G>& member = memory_.template group<G>().member[k];
                return value(member);
            };
        }
    }
    template <class Fn, class T, class Value, class Op>
    NACELLE_INLINE T ask(T none, Value value, Op op) {
        using G = detail::GroupOfFn<E, Fn>;
        const bool looked = looked_;
        const T answer = threads_.template combine<detail::count_of<E, G>>(memory_, partial_, none,
                                                                           asked<G>(value), op);
        looked_ = looked;    // what the question looked at, everybody has read before the answer
        return answer;
    }
    template <class Fn, class T, class Value, class Op>
    NACELLE_INLINE T ask_any(T none, Value value, Op op) {
        using G = detail::GroupOfFn<E, Fn>;
        const bool looked = looked_;
        const T answer = threads_.template combine_any_order<detail::count_of<E, G>>(
            memory_, partial_, none, asked_in_place<G>(value), op);
        looked_ = looked;
        return answer;
    }
    // Another stream for every phase of a step and every kind of work in it.
    NACELLE_INLINE Rng stream(uint32_t row, int kind) const {
        return Rng(source_.seed, source_.domain, source_.tick, row,
                   (phase_ & 0x1fffu) << 3 | uint32_t(kind));
    }
    // Code between two phases may read what the next phase writes, so a phase begins with a barrier. Where
    // nothing was read since the last phase ended, the barrier at that phase's end is enough.
    NACELLE_INLINE void begin() {
        detail::check_outside(inside_);
        if (looked_) threads_.sync();
        detail::freeze(frozen_, memory_);
        inside_ = true;
    }
    NACELLE_INLINE void end(detail::Phase phase) {
        threads_.sync();
        inside_ = false;
        ++phase_;
        detail::check_phase(frozen_, memory_, phase);
    }
    NACELLE_INLINE const detail::TeamMemory<E>& seen() const {
        if (!inside_) looked_ = true;    // and may keep a reference from here on
        return detail::shown(frozen_, memory_, inside_);
    }

    detail::TeamMemory<E>& memory_;
    const detail::TeamThreads<E>& threads_;
    const Episode& episode_;
    const detail::Source& source_;
    mutable detail::Frozen<E> frozen_;
    uint32_t phase_ = 0;
    int partial_ = 0;
    bool inside_ = false;
    mutable bool looked_ = false;
};

}
