#pragma once
#include <nacelle/canvas.h>
#include <nacelle/device/reflect/policies.h>
#include <nacelle/team.h>
// The parts of an author's struct, with an empty one where the author has none; and the author's
// functions, with or without the arguments that they may leave out.

namespace nacelle {

namespace detail {

template <class E> constexpr int time_limit_of() {
    if constexpr (requires { E::time_limit; }) return E::time_limit;
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
concept MasksAlone = requires(const S<E>& s, const P<E>& p, Mask<A<E>>& m) {
    E::mask(s, p, m);
};
template <class E>
concept ReportsAlone = requires(const S<E>& s, const P<E>& p) {
    LogOf<E>{E::report(s, p)};
};
template <class E>
concept ReportsEpisode = requires(const S<E>& s, const P<E>& p, const Episode& e) {
    LogOf<E>{E::report(s, p, e)};
};
template <class E>
concept OverviewsAlone = requires(const S<E>& s, const P<E>& p) {
    GlobalOf<E>{E::overview(s, p)};
};
template <class E>
concept DrawsAlone = requires(Canvas& c, const S<E>& s, const P<E>& p) {
    E::draw(c, s, p);
};
template <class E>
concept Prepares = requires(P<E>& p) {
    E::prepare(p);
};

// The same of a team; those that see one member are asked for each group.
template <class E>
concept TeamResets = requires(Team<E>& t, const P<E>& p) {
    E::reset(t, p);
};
template <class E>
concept TeamSteps = requires(Team<E>& t, const P<E>& p) {
    requires same<decltype(E::step(t, p)), Ending>;
};
template <class E, class G>
concept TeamObsValue = requires(const Team<E>& t, const Member<E, G>& m, const P<E>& p) {
    ObsOf<E, G>{E::observe(t, m, p)};
};
template <class E, class G>
concept TeamObsInto = requires(const Team<E>& t, const Member<E, G>& m, const P<E>& p,
                               ObsOf<E, G>& o) {
    E::observe(t, m, p, o);
};
template <class E, class G>
concept TeamMasks = requires(const Team<E>& t, const Member<E, G>& m, const P<E>& p,
                             Mask<ActionOf<E, G>>& allow) {
    E::mask(t, m, p, allow);
};
template <class E>
concept TeamReports = requires(const Team<E>& t, const P<E>& p) {
    LogOf<E>{E::report(t, p)};
};
template <class E>
concept TeamOverviews = requires(const Team<E>& t, const P<E>& p) {
    GlobalOf<E>{E::overview(t, p)};
};
template <class E>
concept TeamDraws = requires(Canvas& c, const Team<E>& t, const P<E>& p) {
    E::draw(c, t, p);
};
template <class E, class G> constexpr bool masks_of() {
    if constexpr (is_team<E>) return TeamMasks<E, G>;
    else return MasksAlone<E>;
}
template <class E, class G> inline constexpr bool has_mask = masks_of<E, G>();
template <class E> inline constexpr bool Masks = has_mask<E, Sole<E>>;

template <class E> inline constexpr bool has_draw = is_team<E> ? TeamDraws<E> : DrawsAlone<E>;

// Does any function of the author's ask for the episode? If not, nothing of it is kept but its clock.
template <class E>
inline constexpr bool uses_episode = is_team<E> || ResetEpisode<E> || StepEpisode<E> ||
                                     ObsValueEpisode<E> || ObsIntoEpisode<E> || ReportsEpisode<E>;

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
