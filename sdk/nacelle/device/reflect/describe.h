#pragma once
#include <nacelle/constant.h>
#include <nacelle/device/reflect/field_list.h>
// From an author's struct to the exported table, at compile time. The order of the fields here is the
// order of the slots in the view, and nothing else knows it.

namespace nacelle::detail {

// Where several threads share an environment an Array is contiguous for each row: an image is
// written by a warp, and a CPU reads maps 20 % faster.
template <class E>
inline constexpr Layout array_layout = has_image<E> || is_team<E> ? Layout::rows : Layout::columns;

// What is summed over the episodes that have ended: episodes, lengths, and each policy's returns and
// their squares. One line of memory for the environments of a warp, or for a team.
template <class E> inline constexpr uint32_t totals_kept = 2 + 2 * uint32_t(policy_count<E>());

// Names of what a group's agents have: "obs"; "governor.obs" where there are several groups.
template <class E, class G> consteval Text group_prefix(const char* part) {
    Text name;
    if constexpr (!same<G, Sole<E>>) {
        name.add(type_name<G>().text);
        if (*part) name.add('.');
    }
    name.add(part);
    return name;
}

// Lists the numbers of an observation, if any, then the images.
template <class Obs>
constexpr void describe_obs(const char* name, Role role, uint8_t kept, FieldList& list) {
    constexpr uint32_t width = uint32_t(numbers_in<Obs>);
    if constexpr (width > 0) describe_one(name, role, Dtype::f32, Per::row, kept, width, list);
    describe_part<Obs>(name, role, Per::row, kept, Layout::rows, list, Listed::images);
}

// A group's fields in the order of the slots.
template <class E, class G> constexpr void describe_group(int index, FieldList& list) {
    using Parts = GroupParts<E, G>;
    using Obs = typename Parts::Obs;
    list.group = uint8_t(index);
    describe_part<typename Parts::Fields>(same<G, Sole<E>> ? "agent" : group_prefix<E, G>("").text,
                                          Role::agent, Per::row, in_both, Layout::columns, list);
    if constexpr (Parts::bins > 0)
        describe_one(group_prefix<E, G>("bin").text, Role::bin, Dtype::i16, Per::row, in_both, 0,
                     list);
    describe_part<typename Parts::Action>(group_prefix<E, G>("action").text, Role::action, Per::row,
                                          passing, Layout::columns, list);
    describe_obs<Obs>(group_prefix<E, G>("obs").text, Role::obs, in_checkpoint, list);
    describe_obs<Obs>(group_prefix<E, G>("final_obs").text, Role::final_obs, passing, list);
    if constexpr (has_mask<E, G>)
        describe_one(group_prefix<E, G>("mask").text, Role::mask, Dtype::u8, Per::row,
                     in_checkpoint, uint32_t(choices_in<typename Parts::Action>), list);
    if constexpr (has_turn<E, G>) {
        describe_one(group_prefix<E, G>("turn").text, Role::turn, Dtype::u8, Per::row, in_both, 0,
                     list);
        describe_one(group_prefix<E, G>("ended").text, Role::ended, Dtype::b8, Per::row, passing, 0,
                     list);
    }
    describe_one(group_prefix<E, G>("reward").text, Role::reward, Dtype::f32, Per::row, passing, 0,
                 list);
    describe_one(group_prefix<E, G>("episode.return").text, Role::episode, Dtype::f32, Per::row,
                 in_checkpoint, 0, list);
    list.group = 0;
}

// Lists every field of E in the order of the slots: parameters first, as they are in Params; those that
// vary appear again, with a slot of their own.
template <class E> constexpr void describe_all(FieldList& list) {
    describe_part<P<E>>("param", Role::param, Per::all, in_both, Layout::columns, list,
                        Listed::params);
    describe_part<P<E>>("param", Role::param, Per::env, in_both, Layout::columns, list,
                        Listed::varied);
    describe_part<S<E>>("state", Role::state, Per::env, in_both, Layout::columns, list);
    for_each_group<E>([&]<class G, int I>() { describe_group<E, G>(I, list); });
    describe_one("terminated", Role::terminated, Dtype::b8, Per::env, in_checkpoint, 0, list);
    describe_one("truncated", Role::truncated, Dtype::b8, Per::env, in_checkpoint, 0, list);
    if constexpr (!same<GlobalOf<E>, None>)
        describe_one("global", Role::global, Dtype::f32, Per::env, in_checkpoint,
                     uint32_t(numbers_in<GlobalOf<E>>), list);
    describe_part<LogOf<E>>("log", Role::log, Per::env, in_checkpoint, Layout::columns, list);
    if constexpr (uses_episode<E>) {
        describe_one("episode.number", Role::episode, Dtype::u32, Per::env, in_checkpoint, 0, list);
        describe_one("episode.level", Role::episode, Dtype::u32, Per::env, in_both, 0, list);
    }
    describe_one("episode.start", Role::episode, Dtype::i32, Per::env, in_both, 0, list);
    describe_one("episode.length", Role::episode, Dtype::i32, Per::env, in_checkpoint, 0, list);
    describe_one("total", Role::total, Dtype::f64, is_team<E> ? Per::env : Per::group,
                 in_checkpoint, totals_kept<E>, list);
    describe_part<LogOf<E>>("total.log", Role::total, Per::env, in_checkpoint, Layout::columns,
                            list, Listed::totals);
}

template <class E> constexpr int count_fields() {
    FieldList list;
    describe_all<E>(list);
    return list.fields;
}
template <class E> inline constexpr int field_total = count_fields<E>();

constexpr uint64_t mix(uint64_t hash, uint64_t value) { return (hash ^ value) * 0x100000001b3ull; }
// The same as `count` times mix(hash, 0), in as many steps as the count has digits.
constexpr uint64_t mix_zeros(uint64_t hash, int count) {
    for (uint64_t power = 0x100000001b3ull; count > 0; count >>= 1, power *= power)
        if (count & 1) hash *= power;
    return hash;
}
constexpr uint64_t mix_field(uint64_t hash, const Field& f) {
    int n = 0;
    for (; n < Text::capacity && f.name[n]; ++n) hash = mix(hash, uint8_t(f.name[n]));
    hash = mix_zeros(hash, Text::capacity - n);
    hash =
        mix(mix(mix(mix(hash, uint64_t(f.kind)), uint64_t(f.dtype)), f.count), uint64_t(f.choices));
    return mix(mix(hash, __builtin_bit_cast(uint32_t, f.low)),
               __builtin_bit_cast(uint32_t, f.high));
}

constexpr void set_text(char (&to)[64], const char* text) {
    for (int i = 0; i < 63 && text[i]; ++i) to[i] = text[i];
}
template <class E, class G> constexpr void describe_agents(Group& group) {
    set_text(group.name,
             same<G, Sole<E>> ? (is_team<E> ? "agent" : "default") : type_name<G>().text);
    group.count = uint32_t(count_of<E, G>);
    group.obs_width = uint32_t(numbers_in<ObsOf<E, G>>);
    group.mask_width = has_mask<E, G> ? uint32_t(choices_in<ActionOf<E, G>>) : 0;
    group.has_turn = has_turn<E, G>;
}
template <class E> constexpr void name_policies(Header& h) {
    [&]<int... I>(Ints<I...>) {
        if constexpr (is_assigned_to<E>) (set_text(h.policy[I].name, assigned_names[I]), ...);
        else
            (set_text(h.policy[I].name,
                      enumerator_name<typename E::Policy, typename E::Policy(I)>().text),
             ...);
    }
    (count_to<policy_count<E>()>{});
}
template <class E> constexpr void describe_policies(Header& h) {
    h.policies = uint32_t(policy_count<E>());
    if constexpr (has_policies<E>) {
        name_policies<E>(h);
        for (uint32_t g = 0; g < h.groups; ++g)
            for (uint32_t id = 0; id < h.group[g].count; ++id) {
                Decider& policy = h.policy[policy_of<E>(int(g), int(id))];
                ++policy.agents;
                policy.group = g;
            }
    } else
        for (uint32_t i = 0; i < h.groups; ++i) {
            set_text(h.policy[i].name, h.group[i].name);
            h.policy[i].agents = h.group[i].count;
            h.policy[i].group = i;
        }
}

// The table without what depends on the view, which is built on it.
template <class E> constexpr auto describe() {
    Schema<field_total<E>> s{};
    Header& h = s.header;
    h.magic = schema_magic;
    h.revision = schema_revision;
    h.header_size = sizeof(Header);
    h.field_size = sizeof(Field);
    h.fields = uint32_t(field_total<E>);
    h.groups = uint32_t(GroupsOf<E>::count);
    h.agents = uint32_t(agents_in_all<E>());
    h.is_team = is_team<E>;
    h.time_limit = uint32_t(time_limit_of<E>());
    h.most_threads = uint32_t(threads_of<E>());
    h.has_log = !same<LogOf<E>, None>;
    h.has_global = !same<GlobalOf<E>, None>;
    h.has_prepare = Prepares<E>;
    h.has_draw = has_draw<E>;
    h.has_image = has_image<E>;
    h.params_size = sizeof(P<E>);
    for_each_group<E>([&]<class G, int I>() { describe_agents<E, G>(h.group[I]); });
    for_each_group<E>([&]<class G, int I>() { h.has_turn = h.has_turn || h.group[I].has_turn; });
    describe_policies<E>(h);
    h.layout = h.spaces = 0xcbf29ce484222325ull;
    FieldList list{.to = s.fields, .arrays = array_layout<E>};
    describe_all<E>(list);
    h.slots = uint32_t(list.slots);
    for (const Field& f : s.fields) {
        if (f.role == Role::action) h.group[f.group].action_parts += f.count;
        if (f.kept) h.layout = mix_field(h.layout, f);
        if (f.role == Role::action || f.role == Role::obs || f.role == Role::mask)
            h.spaces = mix_field(h.spaces, f);
    }
    return s;
}
template <class E> inline constexpr auto description = describe<E>();

constexpr bool is_image(const Field& f) {
    return f.kind == Kind::array && (f.role == Role::obs || f.role == Role::final_obs);
}
// The slot of the first stored field of a role (and name), images left out; -1 without such a field.
template <class E> consteval int slot_of(Role role, const char* name = nullptr) {
    for (const Field& f : description<E>.fields)
        if (f.role == role && f.slot >= 0 && !is_image(f) && (!name || equal_text(f.name, name)))
            return f.slot;
    return -1;
}
// The slot of a group's first stored field of a role, or of its first image.
template <class E> consteval int group_slot(Role role, int group, bool image = false) {
    for (const Field& f : description<E>.fields)
        if (f.role == role && f.per == Per::row && f.group == group && f.slot >= 0 &&
            is_image(f) == image)
            return f.slot;
    return -1;
}

}
