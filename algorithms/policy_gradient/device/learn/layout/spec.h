#pragma once
#include <learn/formulas/cells.h>
#include <learn/formulas/conv.h>
#include <learn/layout/arguments.h>
#include <nacelle/rollout.h>
// What a policy is, known when its kernels are compiled. The host writes one Spec for each policy.

namespace learn {

using namespace nacelle;
using namespace nacelle::detail;
// CUDA has functions of these names at global scope.
using nacelle::abs, nacelle::cos, nacelle::exp, nacelle::floor, nacelle::log, nacelle::max,
    nacelle::min, nacelle::sqrt, nacelle::tanh;

enum class Activation { tanh, relu, gelu, silu };
enum class Kind : uint8_t { trained, fixed, random };
enum class Deviation { free, from_state };
enum class Loss { clipped, plain };
// Whose values a policy learns by: of its own networks, or of a critic that sees more. That is a network of values alone.
enum class Values { own, elsewhere, alone };
// What such a critic sees: so many numbers of an environment's overview, of so many agents what they observe, and what
// the agent observes whose value it is.
struct Sees {
    int overview = 0, team = 0;
    bool own = false;
    constexpr bool more() const { return overview > 0 || team > 0; }
};

// template <> struct Spec<0> {
//     static constexpr int group = 0;
//     static constexpr Kind kind = Kind::trained;
//     static constexpr Against past = Against::none;
//     static constexpr bool shared = true, squashed = false;
//     static constexpr int planes = 0;
//     static constexpr bool streamed = false;
//     static constexpr bool sums_seen = false;    // where it chooses it adds up what its group observes
//     static constexpr Activation activation = Activation::tanh;
//     static constexpr Deviation deviation = Deviation::free;
//     static constexpr int noise_steps = 1;
//     static constexpr Loss loss = Loss::clipped;
//     static constexpr Encoder encoder = {};
//     static constexpr Values values = Values::own;
//     static constexpr Sees sees = {};
//     static constexpr int shots = 1;    // in which ranks add up the gradient, where they reach one another's memory
//     using Hidden = nacelle::detail::Ints<64, 64>;    // neurons of each hidden layer
//     using Cells = nacelle::detail::Ints<0, 0>;       // and what it is, as cells.h numbers them
// };
template <int policy> struct Spec;

template <class Cells> inline constexpr bool any_remembers = false;
template <int... cell>
inline constexpr bool any_remembers<Ints<cell...>> = (remembers(Cell(cell)) || ...);
template <int policy>
inline constexpr bool has_memory = any_remembers<typename Spec<policy>::Cells>;
// On tensor cores each number has one plane of bfloat16, or several. Layers that are streamed are products of their own
// through memory; else a warp takes rows through all of them.

template <bool first, class A, class B> struct OneOf { using type = A; };
template <class A, class B> struct OneOf<false, A, B> { using type = B; };
template <bool first, class A, class B> using Either = typename OneOf<first, A, B>::type;

template <int index, class List> struct Nth;
template <int index, class First, class... Rest>
struct Nth<index, Groups<First, Rest...>> : Nth<index - 1, Groups<Rest...>> {};
template <class First, class... Rest> struct Nth<0, Groups<First, Rest...>> { using type = First; };

template <class E, int policy> using GroupOf = typename Nth<Spec<policy>::group, GroupsOf<E>>::type;
template <class E, int policy> using ChoiceOf = ActionOf<E, GroupOf<E, policy>>;
template <class E, int group> using GroupNumber = typename Nth<group, GroupsOf<E>>::type;
template <class... G> constexpr int count_groups(Groups<G...>) { return int(sizeof...(G)); }

// What a network sees of an observation: its numbers and the elements of its images.
struct CountSeen {
    template <class T> static constexpr int of() {
        if constexpr (form_of<T> == Form::array) return int(Leaf<T>::count);
        else return 1;
    }
};
template <class T> inline constexpr int seen_in = sum_over<T, CountSeen>();
template <class E, int policy>
inline constexpr int observed_width = seen_in<ObsOf<E, GroupOf<E, policy>>>;
template <class E, int policy>
inline constexpr int width_of =
    Spec<policy>::sees.more()
        ? Spec<policy>::sees.overview +
              (Spec<policy>::sees.team + Spec<policy>::sees.own) * observed_width<E, policy>
        : observed_width<E, policy>;
template <int policy> inline constexpr bool convolves = Spec<policy>::encoder.count > 0;
// What the first layer behind the convolutions sees.
template <class E, int policy>
inline constexpr int encoded_width_of = convolves<policy> ? Spec<policy>::encoder.width()
                                                          : width_of<E, policy>;

// fn.template operator()<policy>() for every policy, and for those of one group.
template <class E, class Fn> NACELLE_INLINE constexpr void for_each_policy(Fn&& fn) {
    [&]<int... p>(Ints<p...>) { (fn.template operator()<p>(), ...); }
    (count_to<policy_count<E>()>{});
}
// The same for every network that learns or acts: critics that see more follow the policies.
#if defined(LEARN_CRITICS)
inline constexpr int critics = LEARN_CRITICS;
#else
inline constexpr int critics = 0;
#endif
// Numbers of an environment's overview, where critics see it.
#if defined(LEARN_OVERVIEW)
inline constexpr int overview_width = LEARN_OVERVIEW;
#else
inline constexpr int overview_width = 0;
#endif
template <class E, class Fn> NACELLE_INLINE constexpr void for_each_network(Fn&& fn) {
    [&]<int... p>(Ints<p...>) { (fn.template operator()<p>(), ...); }
    (count_to<policy_count<E>() + critics>{});
}
template <class E, int group, int policy, class Fn> NACELLE_INLINE void if_of_group(Fn& fn) {
    if constexpr (Spec<policy>::group == group) fn.template operator()<policy>();
}
template <class E, int group, class Fn> NACELLE_INLINE void for_each_policy_of(Fn&& fn) {
    for_each_policy<E>([&]<int policy>() { if_of_group<E, group, policy>(fn); });
}

template <class E, int policy> NACELLE_INLINE uint32_t group_rows(const View<E>& view) {
    return view.head.envs * uint32_t(count_of<E, GroupOf<E, policy>>);
}

}
