#pragma once
#include <nacelle/constant.h>
#include <nacelle/detail/check.h>
// From an author's struct to the exported table, at compile time. The order of the fields here is the
// order of the slots in the view, and nothing else knows it.
#ifndef NACELLE_VARIED    // "name", ... : the parameters that are drawn for each environment
#define NACELLE_VARIED
#endif

namespace nacelle::detail {

enum Kept : uint8_t { passing = 0, in_checkpoint = 1, in_snapshot = 2, in_both = 3 };

constexpr bool varied_name(const char* name) {
    constexpr const char* varied[] = {NACELLE_VARIED nullptr};
    for (const char* one : varied)
        if (one && equal_text(one, name + 6)) return true;    // past "param."
    return false;
}
constexpr void set_name(Field& field, const char* a, const char* b = "") {
    Text name;
    name.add(a);
    if (*a && *b) name.add('.');
    name.add(b);
    for (int i = 0; i < Text::capacity; ++i) field.name[i] = name.text[i];
}

template <class T, class Value, class Emit>
constexpr void describe_leaf(Field d, const Value& value, Emit& emit);
// One field per leaf of T, names as paths.
template <class T, class Emit>
constexpr void describe_record(const Field& proto, const T& object, Emit& emit) {
    uint32_t end = 0;
    for_each_field(object, [&](auto index, auto& f) {
        using F = bare<decltype(f)>;
        Field d = proto;
        set_name(d, proto.name, field_name<T, index.value>().text);
        end = (end + uint32_t(alignof(F)) - 1) / uint32_t(alignof(F)) * uint32_t(alignof(F));
        d.offset += end;
        end += uint32_t(sizeof(F));
        describe_leaf<F>(d, f, emit);
    });
}
template <class T, class Value, class Emit>
constexpr void describe_leaf(Field d, const Value& value, Emit& emit) {
    if constexpr (form_of<T> == Form::list) {
        using U = typename Leaf<T>::element;
        if (d.rank < 4) d.dims[d.rank++] = uint32_t(Leaf<T>::count);
        d.count *= uint32_t(Leaf<T>::count);
        d.step = uint32_t(sizeof(U));
        describe_leaf<U>(d, value[0], emit);
    } else if constexpr (form_of<T> == Form::record) describe_record(d, value, emit);
    else {
        using L = Leaf<T>;
        d.dtype = dtype_of<typename L::element>();
        d.count *= uint32_t(L::count);
        for (int i = 0; i < L::rank && d.rank < 4; ++i) d.dims[d.rank++] = uint32_t(L::dims[i]);
        if constexpr (L::form == Form::discrete) {
            d.kind = Kind::discrete;
            d.choices = T::choices;
        } else if constexpr (L::form == Form::continuous) {
            d.kind = Kind::continuous;
            d.low = T::low;
            d.high = T::high;
        } else if constexpr (L::form == Form::array) d.kind = Kind::array;
        else if constexpr (L::form == Form::table) d.kind = Kind::table;
        else d.initial = double(value);
        emit(d);
    }
}
template <class T, class Emit>
constexpr void describe_part(const char* name, Role role, Per per, uint8_t kept, Layout layout,
                             Emit& emit) {
    if constexpr (!same<T, None>) {
        Field d{};
        set_name(d, name);
        d.role = role;
        d.per = per;
        d.kept = kept;
        d.layout = layout;
        d.count = 1;
        const T object{};
        describe_record(d, object, emit);
    }
}
template <class Emit>
constexpr void describe_one(const char* name, Role role, Dtype dtype, Per per, uint8_t kept,
                            uint32_t width, Emit& emit) {
    Field d{};
    set_name(d, name);
    d.role = role;
    d.dtype = dtype;
    d.per = per;
    d.kept = kept;
    d.count = width ? width : 1;
    if (width) {
        d.layout = Layout::rows;
        d.rank = 1;
        d.dims[0] = width;
    }
    emit(d);
}

// Where several threads share an environment an Array is contiguous for each row: an image is
// written by a warp, and a CPU reads maps 20 % faster.
template <class E, class G> inline constexpr bool group_has_image = arrays_in<ObsOf<E, G>> > 0;
template <class E> constexpr bool any_image() {
    bool any = false;
    for_each_group<E>([&]<class G, int>() { any = any || group_has_image<E, G>; });
    return any;
}
template <class E> inline constexpr bool has_image = any_image<E>();
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

// A group's fields in the order of the slots. `store` takes all, `images` the arrays of a struct.
template <class E, class G, class Store, class Images>
constexpr void describe_group(int index, Store& stored, Images& image) {
    using Parts = GroupParts<E, G>;
    using Obs = typename Parts::Obs;
    auto store = [&](Field d) {
        d.group = uint8_t(index);
        stored(d);
    };
    auto images = [&](Field d) {
        d.group = uint8_t(index);
        image(d);
    };
    constexpr uint32_t width = uint32_t(numbers_in<Obs>);
    describe_part<typename Parts::Fields>(same<G, Sole<E>> ? "agent" : group_prefix<E, G>("").text,
                                          Role::agent, Per::row, in_both, Layout::columns, store);
    if constexpr (Parts::bins > 0)
        describe_one(group_prefix<E, G>("bin").text, Role::bin, Dtype::i16, Per::row, in_both, 0,
                     store);
    describe_part<typename Parts::Action>(group_prefix<E, G>("action").text, Role::action, Per::row,
                                          passing, Layout::columns, store);
    describe_one(group_prefix<E, G>("obs").text, Role::obs, Dtype::f32, Per::row, in_checkpoint,
                 width, store);
    describe_part<Obs>(group_prefix<E, G>("obs").text, Role::obs, Per::row, in_checkpoint,
                       Layout::rows, images);
    describe_one(group_prefix<E, G>("final_obs").text, Role::final_obs, Dtype::f32, Per::row,
                 passing, width, store);
    describe_part<Obs>(group_prefix<E, G>("final_obs").text, Role::final_obs, Per::row, passing,
                       Layout::rows, images);
    if constexpr (has_mask<E, G>)
        describe_one(group_prefix<E, G>("mask").text, Role::mask, Dtype::u8, Per::row,
                     in_checkpoint, uint32_t(choices_in<typename Parts::Action>), store);
    if constexpr (has_turn<E, G>) {
        describe_one(group_prefix<E, G>("turn").text, Role::turn, Dtype::u8, Per::row, in_both, 0,
                     store);
        describe_one(group_prefix<E, G>("ended").text, Role::ended, Dtype::b8, Per::row, passing, 0,
                     store);
    }
    describe_one(group_prefix<E, G>("reward").text, Role::reward, Dtype::f32, Per::row, passing, 0,
                 store);
    describe_one(group_prefix<E, G>("episode.return").text, Role::episode, Dtype::f32, Per::row,
                 in_checkpoint, 0, store);
}

// Emits every field of E in the order of the slots.
template <class E, class Emit> constexpr void describe_all(Emit&& plain) {
    int slot = 0;
    auto store = [&](Field d) {
        if (d.kind == Kind::array && d.role != Role::obs && d.role != Role::final_obs)
            d.layout = array_layout<E>;
        d.slot = slot++;
        plain(d);
    };
    // Parameters first, as they are in Params; those that vary appear again, with a slot of their own.
    auto param = [&](Field d) {
        d.slot = -1;
        d.varied = d.kind == Kind::value && varied_name(d.name);
        plain(d);
    };
    auto varied = [&](Field d) {
        d.varied = d.kind == Kind::value && varied_name(d.name);
        if (d.varied) store(d);
    };
    auto images = [&](Field d) {
        if (d.kind == Kind::array) store(d);
    };
    describe_part<P<E>>("param", Role::param, Per::all, in_both, Layout::columns, param);
    describe_part<P<E>>("param", Role::param, Per::env, in_both, Layout::columns, varied);
    describe_part<S<E>>("state", Role::state, Per::env, in_both, Layout::columns, store);
    for_each_group<E>([&]<class G, int I>() { describe_group<E, G>(I, store, images); });
    describe_one("terminated", Role::terminated, Dtype::b8, Per::env, in_checkpoint, 0, store);
    describe_one("truncated", Role::truncated, Dtype::b8, Per::env, in_checkpoint, 0, store);
    if constexpr (!same<GlobalOf<E>, None>)
        describe_one("global", Role::global, Dtype::f32, Per::env, in_checkpoint,
                     uint32_t(numbers_in<GlobalOf<E>>), store);
    describe_part<LogOf<E>>("log", Role::log, Per::env, in_checkpoint, Layout::columns, store);
    if constexpr (uses_episode<E>) {
        describe_one("episode.number", Role::episode, Dtype::u32, Per::env, in_checkpoint, 0,
                     store);
        describe_one("episode.level", Role::episode, Dtype::u32, Per::env, in_both, 0, store);
    }
    describe_one("episode.start", Role::episode, Dtype::i32, Per::env, in_both, 0, store);
    describe_one("episode.length", Role::episode, Dtype::i32, Per::env, in_checkpoint, 0, store);
    describe_one("total", Role::total, Dtype::f64, is_team<E> ? Per::env : Per::group,
                 in_checkpoint, totals_kept<E>, store);
    auto totals = [&](Field d) {
        d.dtype = Dtype::f32;
        store(d);
    };
    describe_part<LogOf<E>>("total.log", Role::total, Per::env, in_checkpoint, Layout::columns,
                            totals);
}

template <class E> constexpr int count_fields() {
    int n = 0;
    describe_all<E>([&](const Field&) { ++n; });
    return n;
}
template <class E> inline constexpr int field_total = count_fields<E>();

constexpr uint64_t mix(uint64_t hash, uint64_t value) { return (hash ^ value) * 0x100000001b3ull; }
constexpr uint64_t mix_field(uint64_t hash, const Field& f) {
    for (char c : f.name) hash = mix(hash, uint8_t(c));
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
template <class E> constexpr void describe_policies(Header& h) {
    h.policies = uint32_t(policy_count<E>());
    if constexpr (has_policies<E>) {
        [&]<int... I>(Ints<I...>) {
            (set_text(h.policy[I].name,
                      enumerator_name<typename E::Policy, typename E::Policy(I)>().text),
             ...);
        }
        (count_to<policy_count<E>()>{});
        for (int id = 0; id < agents_in_all<E>(); ++id) ++h.policy[policy_of<E>(0, id)].agents;
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
    int n = 0;
    describe_all<E>([&](const Field& f) {
        s.fields[n++] = f;
        if (f.slot >= int(h.slots)) h.slots = uint32_t(f.slot) + 1;
        if (f.role == Role::action) h.group[f.group].action_parts += f.count;
        if (f.kept) h.layout = mix_field(h.layout, f);
        if (f.role == Role::action || f.role == Role::obs || f.role == Role::mask)
            h.spaces = mix_field(h.spaces, f);
    });
    return s;
}
template <class E> inline constexpr auto description = describe<E>();

// The slot of the first stored field of a role (and name); -1 where there is none.
template <class E> consteval int slot_of(Role role, const char* name = nullptr) {
    for (const Field& f : description<E>.fields)
        if (f.role == role && f.slot >= 0 && (!name || equal_text(f.name, name))) return f.slot;
    return -1;
}
// Of what a group's agents have: the first stored field of a role.
template <class E> consteval int group_slot(Role role, int group) {
    for (const Field& f : description<E>.fields)
        if (f.role == role && f.per == Per::row && f.group == group && f.slot >= 0) return f.slot;
    return -1;
}

}
