#pragma once
#include <nacelle/device/reflect/leaf_fields.h>
// The list of an environment's fields while it is being written, in the order of their slots.
#ifndef NACELLE_VARIED    // "name", ... : the parameters that are drawn for each environment
#define NACELLE_VARIED
#endif

namespace nacelle::detail {

enum Kept : uint8_t { passing = 0, in_checkpoint = 1, in_snapshot = 2, in_both = 3 };

constexpr bool varied_name(const char* name) {
    constexpr const char* varied[] = {NACELLE_VARIED nullptr};
    for (const char* one : varied)
        if (one && equal_text(one, name)) return true;
    return false;
}
// Which leaves of a struct are listed, and as what.
enum class Listed { all, params, varied, images, totals };

// Lists fields in the order of the slots; without a place for them it only counts.
struct FieldList {
    Field* to = nullptr;
    Layout arrays = Layout::columns;    // of Arrays that are no observations
    int fields = 0, slots = 0;
    uint8_t group = 0;

    // What a struct's leaves or a single field have in common: its name, and what it is for.
    constexpr void leaves(const Field* leaf, int count, Listed which, const Field& part) {
        for (int i = 0; i < count; ++i) {
            const bool varied = leaf[i].kind == Kind::value &&
                                (which == Listed::params || which == Listed::varied) &&
                                varied_name(leaf[i].name);
            if (which == Listed::varied && !varied) continue;
            if (which == Listed::images && leaf[i].kind != Kind::array) continue;
            const int slot = which == Listed::params ? -1 : slots++;
            if (to) {
                Field& d = to[fields];
                d = leaf[i];
                take_name(d, part.name, leaf[i].name);
                d.role = part.role;
                d.per = part.per;
                d.kept = part.kept;
                d.layout = part.layout;
                d.group = part.group;
                if (d.kind == Kind::array && which != Listed::images) d.layout = arrays;
                if (which == Listed::totals) d.dtype = Dtype::f32;
                d.varied = varied;
                d.slot = slot;
            }
            ++fields;
        }
    }
    constexpr void one(const Field& field) {
        if (to) {
            to[fields] = field;
            to[fields].slot = slots;
        }
        ++fields;
        ++slots;
    }

private:
    static constexpr void take_name(Field& d, const char* part, const char* leaf) {
        int n = 0;
        for (; part[n]; ++n) d.name[n] = part[n];
        if (n > 0 && *leaf) d.name[n++] = '.';
        for (; *leaf && n + 1 < Text::capacity; ++leaf) d.name[n++] = *leaf;
    }
};

constexpr Field named_field(const char* name, Role role, Per per, uint8_t kept,
                            const FieldList& list) {
    Field d{};
    add_name(d, name);
    d.role = role;
    d.per = per;
    d.kept = kept;
    d.group = list.group;
    return d;
}
template <class T>
constexpr void describe_part(const char* name, Role role, Per per, uint8_t kept, Layout layout,
                             FieldList& list, Listed which = Listed::all) {
    if constexpr (!same<T, None>) {
        Field part = named_field(name, role, per, kept, list);
        part.layout = layout;
        list.leaves(leaves_of<T>.field, leaf_count<T>(), which, part);
    }
}
constexpr void describe_one(const char* name, Role role, Dtype dtype, Per per, uint8_t kept,
                            uint32_t width, FieldList& list) {
    Field d = named_field(name, role, per, kept, list);
    d.dtype = dtype;
    d.count = width ? width : 1;
    if (width) {
        d.layout = Layout::rows;
        d.rank = 1;
        d.dims[0] = width;
    }
    list.one(d);
}

}
