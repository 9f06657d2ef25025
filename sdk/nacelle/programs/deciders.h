#pragma once
#include <nacelle/device/reflect/parts.h>
#include <nacelle/kernel.h>
// Which policy decides for each agent: the schema has how many agents each has, not which they are.

namespace nacelle {

struct DecidersArgs {
    uint8_t* policy;    // [agents], group after group
    uint32_t agents;
};

namespace detail {

template <class E>
NACELLE_INLINE void name_deciders(const View<E>&, const DecidersArgs& args, Items items) {
    uint32_t first = 0;
    for_each_group<E>([&]<class G, int I>() {
        const uint32_t count = uint32_t(count_of<E, G>);
        for (uint64_t item = items.begin; item < min(items.end, uint64_t(args.agents)); ++item)
            if (item >= first && item < first + count)
                args.policy[item] = uint8_t(policy_of<E>(I, int(item - first)));
        first += count;
    });
}

}
}

#define NACELLE_DECIDERS()                                                                         \
    NACELLE_PROGRAM()                                                                              \
    NACELLE_KERNEL(nacelle_deciders, nacelle::DecidersArgs, 128, nacelle::detail::name_deciders)
