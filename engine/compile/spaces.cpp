#include "engine/compile/spaces.h"

#include "engine/arrays/dtype.h"

#include <algorithm>
#include <cstring>

namespace nacelle {
namespace {

// The fields that a policy depends on.
bool is_space(const Field& field) {
    switch (field.role) {
        case Role::action:
        case Role::obs:
        case Role::mask:
        case Role::turn:
        case Role::global: return true;
        default: return false;
    }
}
std::vector<const Field*> spaces_of(const EnvSchema& schema) {
    std::vector<const Field*> found;
    for (const Field& field : schema.fields())
        if (is_space(field)) found.push_back(&field);
    return found;
}
std::string form_of(const Field& field) {
    std::string text = std::string(field.name) + " ";
    if (field.kind == Kind::discrete) text += "one of " + std::to_string(field.choices) + " ";
    text += dtype_name(field.dtype);
    for (uint32_t i = 0; i < field.rank; ++i)
        text += (i ? ", " : " [") + std::to_string(field.dims[i]);
    return text + (field.rank ? "]" : "");
}
bool same_space(const Field& a, const Field& b) {
    return std::strcmp(a.name, b.name) == 0 && a.role == b.role && a.kind == b.kind &&
           a.dtype == b.dtype && a.rank == b.rank && std::equal(a.dims, a.dims + a.rank, b.dims) &&
           a.choices == b.choices && a.low == b.low && a.high == b.high;
}

}

std::string difference_of_spaces(const EnvSchema& before, const EnvSchema& after) {
    const std::vector<const Field*> old = spaces_of(before), now = spaces_of(after);
    for (size_t i = 0; i < std::max(old.size(), now.size()); ++i) {
        if (i >= now.size()) return form_of(*old[i]) + " is gone";
        if (i >= old.size()) return form_of(*now[i]) + " is new";
        if (!same_space(*old[i], *now[i]))
            return form_of(*old[i]) + " has become " + form_of(*now[i]);
    }
    const Header &was = before.header(), &is = after.header();
    if (was.agents != is.agents || was.groups != is.groups || was.policies != is.policies ||
        std::memcmp(was.group, is.group, sizeof was.group) != 0 ||
        std::memcmp(was.policy, is.policy, sizeof was.policy) != 0)
        return "the agents, their groups or their policies are others";
    return was.spaces == is.spaces ? "" : "a part of the observations or actions is another";
}

}
