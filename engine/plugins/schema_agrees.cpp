// Checks at compile time that the schema of plugins in C equals nacelle/schema.h.
#include <cstddef>
#include <nacelle/plugin/schema.h>
#include <nacelle/schema.h>
#include <string_view>
#include <utility>

namespace nacelle {
namespace {

// STEP(member) for each of up to 64 members.
#define NACELLE_EACH(step, member, ...)                                                            \
    step(member) __VA_OPT__(NACELLE_AGAIN NACELLE_PARENS(step, __VA_ARGS__))
#define NACELLE_AGAIN() NACELLE_EACH
#define NACELLE_PARENS ()
#define NACELLE_RESCAN(...)                                                                        \
    NACELLE_RESCAN_1(NACELLE_RESCAN_1(NACELLE_RESCAN_1(NACELLE_RESCAN_1(__VA_ARGS__))))
#define NACELLE_RESCAN_1(...)                                                                      \
    NACELLE_RESCAN_2(NACELLE_RESCAN_2(NACELLE_RESCAN_2(NACELLE_RESCAN_2(__VA_ARGS__))))
#define NACELLE_RESCAN_2(...)                                                                      \
    NACELLE_RESCAN_3(NACELLE_RESCAN_3(NACELLE_RESCAN_3(NACELLE_RESCAN_3(__VA_ARGS__))))
#define NACELLE_RESCAN_3(...) __VA_ARGS__

#define NACELLE_SAME_PLACE(m)                                                                      \
    static_assert(offsetof(C, m) == offsetof(Cpp, m) && sizeof(C::m) == sizeof(Cpp::m));
#define NACELLE_SAME_STRUCT(c, cpp, ...)                                                           \
    namespace c##_agrees {                                                                         \
        using C = c;                                                                               \
        using Cpp = cpp;                                                                           \
        static_assert(sizeof(C) == sizeof(Cpp));                                                   \
        NACELLE_RESCAN(NACELLE_EACH(NACELLE_SAME_PLACE, __VA_ARGS__))                              \
    }

NACELLE_SAME_STRUCT(nacelle_field, Field, name, role, kind, dtype, group, per, layout, kept, varied,
                    rank, dims, count, slot, offset, step, choices, low, high, initial, strides)
NACELLE_SAME_STRUCT(nacelle_group, Group, name, count, obs_width, mask_width, action_parts,
                    has_turn)
NACELLE_SAME_STRUCT(nacelle_policy, Decider, name, agents, group)
NACELLE_SAME_STRUCT(nacelle_schema, Header, magic, revision, header_size, field_size, name, fields,
                    slots, groups, agents, time_limit, is_team, has_turn, has_log, has_global,
                    has_prepare, has_draw, has_image, params_size, view_size, head_size,
                    params_offset, array_offset, pool_offset, most_threads, group, layout, spaces,
                    policies, policy, block_threads, env_threads, shared_bytes, workspace_bytes,
                    cluster_blocks)

// The name of an enumerator, or "(type)number" where it has none.
template <auto value> constexpr std::string_view name_of() {
    std::string_view words = __PRETTY_FUNCTION__;
    words.remove_prefix(words.find("value = ") + 8);
    words = words.substr(0, words.find_first_of(";]"));
    return words.substr(words.starts_with('(') ? 0 : words.rfind(':') + 1);
}
// NACELLE_ROLE_FINAL_OBS is "ROLE_" and final_obs.
template <auto c, auto cpp> constexpr bool same_name(std::string_view prefix) {
    const std::string_view one = name_of<c>(), other = name_of<cpp>();
    bool same = one.substr(0, 8) == "NACELLE_" && one.substr(8, prefix.size()) == prefix &&
                one.size() == 8 + prefix.size() + other.size();
    for (size_t i = 0; same && i < other.size(); ++i) {
        const char letter = other[i];
        same = one[8 + prefix.size() + i] ==
               (letter >= 'a' && letter <= 'z' ? char(letter - 'a' + 'A') : letter);
    }
    return same;
}
// Equal numbers have equal names, up to the last enumerator of both.
template <class C, class Cpp, size_t count> constexpr bool agree(std::string_view prefix) {
    const bool all = [&]<size_t... i>(std::index_sequence<i...>) {
        return (same_name<static_cast<C>(i), static_cast<Cpp>(i)>(prefix) && ...);
    }
    (std::make_index_sequence<count>());
    return all && name_of<static_cast<Cpp>(count)>().starts_with('(');
}
static_assert(agree<nacelle_dtype, Dtype, 11>(""));
static_assert(agree<nacelle_role, Role, 18>("ROLE_"));
static_assert(agree<nacelle_kind, Kind, 5>("KIND_"));
static_assert(agree<nacelle_per, Per, 4>("PER_"));
static_assert(agree<nacelle_layout, Layout, 2>(""));

}
}
