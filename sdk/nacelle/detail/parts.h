#pragma once
#include <nacelle/canvas.h>
#include <nacelle/episode.h>
#include <nacelle/mask.h>
// The parts of an author's struct, with an empty one where the author has none; and the author's
// functions, with or without the arguments that they may leave out.

namespace nacelle {

template <class... G> struct Groups { static constexpr int count = sizeof...(G); };

namespace detail {

struct None {};
#define NACELLE_PART(Name)                                                                         \
    template <class E> struct Own##Name { using type = None; };                                    \
    template <class E>                                                                             \
    requires requires { typename E::Name; }                                                        \
    struct Own##Name<E> {                                                                          \
        using type = typename E::Name;                                                             \
    };
NACELLE_PART(State)
NACELLE_PART(Params) NACELLE_PART(Action) NACELLE_PART(Obs) NACELLE_PART(Log) NACELLE_PART(Global)
#undef NACELLE_PART

}

template <class E> using StateOf = typename detail::OwnState<E>::type;
template <class E> using ParamsOf = typename detail::OwnParams<E>::type;
template <class E> using ActionOf = typename detail::OwnAction<E>::type;
template <class E> using ObsOf = typename detail::OwnObs<E>::type;
template <class E> using LogOf = typename detail::OwnLog<E>::type;
template <class E> using GlobalOf = typename detail::OwnGlobal<E>::type;

namespace detail {

template <class E> inline constexpr bool is_team = requires { typename E::Agent; }
|| requires { typename E::Agents; };
template <class E> constexpr int time_limit_of() {
    if constexpr (requires { E::time_limit; }) return E::time_limit;
    else return 0;
}
template <class E> constexpr int threads_of() {
    if constexpr (requires { E::threads; }) return E::threads;
    else return 0;
}

template <class E> using S = StateOf<E>;
template <class E> using P = ParamsOf<E>;
template <class E> using A = ActionOf<E>;
template <class E> using O = ObsOf<E>;

template <class E>
concept ResetPlain = requires(S<E>& s, const P<E>& p, Rng& r) {
    E::reset(s, p, r);
};
template <class E>
concept ResetEpisode = requires(S<E>& s, const P<E>& p, Rng& r, const Episode& e) {
    E::reset(s, p, r, e);
};
template <class E>
concept StepPlain = requires(S<E>& s, const A<E>& a, const P<E>& p, Rng& r) {
    Outcome{E::step(s, a, p, r)};
};
template <class E>
concept StepEpisode = requires(S<E>& s, const A<E>& a, const P<E>& p, Rng& r, const Episode& e) {
    Outcome{E::step(s, a, p, r, e)};
};
template <class E>
concept ObsValue = requires(const S<E>& s, const P<E>& p) {
    O<E>{E::observe(s, p)};
};
template <class E>
concept ObsValueEpisode = requires(const S<E>& s, const P<E>& p, const Episode& e) {
    O<E>{E::observe(s, p, e)};
};
template <class E>
concept ObsInto = requires(const S<E>& s, const P<E>& p, O<E>& o) {
    E::observe(s, p, o);
};
template <class E>
concept ObsIntoEpisode = requires(const S<E>& s, const P<E>& p, O<E>& o, const Episode& e) {
    E::observe(s, p, o, e);
};
template <class E>
concept Masks = requires(const S<E>& s, const P<E>& p, Mask<A<E>>& m) {
    E::mask(s, p, m);
};
template <class E>
concept Reports = requires(const S<E>& s, const P<E>& p) {
    LogOf<E>{E::report(s, p)};
};
template <class E>
concept ReportsEpisode = requires(const S<E>& s, const P<E>& p, const Episode& e) {
    LogOf<E>{E::report(s, p, e)};
};
template <class E>
concept Overviews = requires(const S<E>& s, const P<E>& p) {
    GlobalOf<E>{E::overview(s, p)};
};
template <class E>
concept Draws = requires(Canvas& c, const S<E>& s, const P<E>& p) {
    E::draw(c, s, p);
};
template <class E>
concept Prepares = requires(P<E>& p) {
    E::prepare(p);
};

// Does any function of the author's ask for the episode? If not, nothing of it is kept but its clock.
template <class E>
inline constexpr bool uses_episode = ResetEpisode<E> || StepEpisode<E> || ObsValueEpisode<E> ||
                                     ObsIntoEpisode<E> || ReportsEpisode<E>;

template <class E>
NACELLE_INLINE void call_reset(S<E>& s, const P<E>& p, Rng& r, const Episode& e) {
    if constexpr (ResetEpisode<E>) E::reset(s, p, r, e);
    else E::reset(s, p, r);
}
template <class E>
NACELLE_INLINE Outcome call_step(S<E>& s, const A<E>& a, const P<E>& p, Rng& r, const Episode& e) {
    if constexpr (StepEpisode<E>) return E::step(s, a, p, r, e);
    else return E::step(s, a, p, r);
}
template <class E>
NACELLE_INLINE void call_observe(const S<E>& s, const P<E>& p, const Episode& e, O<E>& o) {
    if constexpr (ObsIntoEpisode<E>) E::observe(s, p, o, e);
    else if constexpr (ObsInto<E>) E::observe(s, p, o);
    else if constexpr (ObsValueEpisode<E>) o = E::observe(s, p, e);
    else o = E::observe(s, p);
}
template <class E>
NACELLE_INLINE LogOf<E> call_report(const S<E>& s, const P<E>& p, const Episode& e) {
    if constexpr (ReportsEpisode<E>) return E::report(s, p, e);
    else return E::report(s, p);
}

}
}
