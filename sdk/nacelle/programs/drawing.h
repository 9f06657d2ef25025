#pragma once
#include <nacelle/device/team/team_load.h>
// The author's draw(), as a program of its own: no program that steps has any of it. It runs on the
// host, from copies of one environment's arrays, which make a batch of one.

namespace nacelle {

struct DrawArgs {
    void* sink;
    Canvas::Put put;
    void (*fail)(void* sink, const char* words);    // a fault that ended a checked draw()
    uint64_t tick;
};

namespace detail {

#if !defined(__CUDACC_RTC__)
// What the agents chose last and what they got for it, which a team does not keep between steps.
template <class E, class G, int I> void load_last_step(const View<E>& view, LocalTeam<E>& local) {
    for (int i = 0; i < count_of<E, G>; ++i) {
        Member<E, G>& member = member_of(local.memory.template group<G>(), i);
        const size_t row = row_of<E, G>(local.env, i);
        load_row<E>(view.array, group_slot<E>(Role::action, I), row, rows_of<E, G>(view),
                    member.action);
        member.reward = group_column<E, float, Role::reward, I>(view)[row];
    }
}

template <class E> void draw_team(const View<E>& view, const DrawArgs& args, Canvas& canvas) {
    LocalTeam<E> local(view, 0);
    load_local<E>(view, args.tick, local);
    for_each_group<E>([&]<class G, int I>() { load_last_step<E, G, I>(view, local); });
    const Source source = local.source(view, args.tick, Domain::step);
    const Team<E> team(local.memory, local.threads, local.episode, source);
    E::draw(canvas, team, local.params(view));
}
template <class E> void draw_alone(const View<E>& view, Canvas& canvas) {
    LocalEnv<E> local(view, 0);
    load_local<E>(view, local);
    E::draw(canvas, static_cast<const S<E>&>(local.state), local.params(view));
}

template <class E> void draw_any(const View<E>& view, const DrawArgs& args, Canvas& canvas) {
    if constexpr (!has_draw<E>) return;
    else if constexpr (is_team<E>) draw_team<E>(view, args, canvas);
    else draw_alone<E>(view, canvas);
}

template <class E> void draw_body(const View<E>& view, const DrawArgs& args, Items items) {
    if (items.begin != 0) return;
    Canvas canvas(args.sink, args.put);
#ifdef NACELLE_FAULTS_THROW
    try {
        draw_any<E>(view, args, canvas);
    } catch (const FaultLine& fault) {
        args.fail(args.sink, fault.words());
    }
#else
    draw_any<E>(view, args, canvas);
#endif
}
#endif

}
}

#define NACELLE_DRAWING()                                                                          \
    NACELLE_PROGRAM()                                                                              \
    NACELLE_KERNEL(nacelle_draw, nacelle::DrawArgs, 128, nacelle::detail::draw_body)
