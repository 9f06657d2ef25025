#include "engine/compile/stand_in.h"

#include <charconv>
#include <cmath>
#include <cstring>
#include <map>
#include <nacelle/view.h>

namespace nacelle {
namespace {

std::string element_type(Dtype dtype) {
    static const char* const names[] = {"float",   "double",   "int32_t", "uint32_t",
                                        "int64_t", "uint64_t", "int16_t", "uint16_t",
                                        "int8_t",  "uint8_t",  "bool"};
    return names[size_t(dtype)];
}

// Whole numbers as such: older compilers take no other number as an argument of a template.
std::string bound_text(float value) {
    if (value == std::floor(value) && std::abs(value) < 1e6f) return std::to_string(int(value));
    char digits[64];
    const auto end =
        std::to_chars(std::begin(digits), std::end(digits), value, std::chars_format::scientific);
    return std::string(digits, end.ptr) + "f";
}

class StandIn final {
public:
    explicit StandIn(const EnvSchema& schema) : schema_(schema), header_(schema.header()) {}

    std::string text() const {
        std::string all = assigned() + "#include <nacelle/env.h>\n\nstruct StandIn {\n" + agents();
        if (has_policies() && !has_groups()) all += policies();
        for (uint32_t g = 0; g < header_.groups; ++g) all += sight(g);
        return all + functions() + "};\nNACELLE_ENV(StandIn)\n";
    }

private:
    static constexpr const char* nothing = "const nacelle::detail::None&";

    bool is_team() const { return header_.is_team != 0; }
    // Names of what a group has, where the environment has several.
    bool has_groups() const { return header_.groups > 1; }
    bool has_policies() const { return header_.policies != header_.groups; }
    std::string group_name(uint32_t g) const { return "Group" + std::to_string(g); }
    std::string member(uint32_t g) const {
        return "const nacelle::Member<StandIn" + (has_groups() ? ", " + group_name(g) : "") + ">&";
    }
    template <class Fn> void each(uint32_t group, Role role, Fn&& fn) const {
        for (const Field& field : schema_.fields())
            if (field.role == role && field.group == group) fn(field);
    }

    std::string agents() const {
        if (!is_team()) return "    struct State { float unused; };\n" + spaces(0);
        if (!has_groups())
            return "    static constexpr int agents = " + std::to_string(header_.group[0].count) +
                   ";\n    struct Agent { float unused; };\n" + spaces(0);
        std::string all, list;
        for (uint32_t g = 0; g < header_.groups; ++g) {
            all += "    struct " + group_name(g) + " {\n    static constexpr int count = " +
                   std::to_string(header_.group[g].count) + ";\n    float unused;\n" + spaces(g) +
                   "    };\n";
            list += (g ? ", " : "") + group_name(g);
        }
        return all + "    using Agents = nacelle::Groups<" + list + ">;\n";
    }
    // Names of fields are numbers.
    std::string spaces(uint32_t group) const {
        int n = 0;
        const auto declared = [&](const std::string& type, uint32_t count) {
            return " " + type + " f" + std::to_string(n++) +
                   (count > 1 ? "[" + std::to_string(count) + "]" : "") + ";";
        };
        std::string action, obs;
        each(group, Role::action, [&](const Field& field) {
            const bool discrete = field.kind == Kind::discrete;
            action += declared(discrete ? "nacelle::Discrete<" + std::to_string(field.choices) + ">"
                                        : "nacelle::Continuous<" + bound_text(field.low) + ", " +
                                              bound_text(field.high) + ">",
                               field.count);
        });
        if (const uint32_t numbers = header_.group[group].obs_width)
            obs += declared("float", numbers);
        each(group, Role::obs, [&](const Field& field) {
            if (field.kind == Kind::array)
                obs += declared("nacelle::Array<" + element_type(field.dtype) + ", " +
                                    std::to_string(field.count) + ">",
                                1);
        });
        return "    struct Action {" + action + " };\n    struct Obs {" + obs + " };\n";
    }
    // Several groups with policies that are given agents: how many of a group follow each is known, which ones is not.
    std::string assigned() const {
        if (!has_policies() || !has_groups()) return {};
        std::string names, agents;
        uint32_t before = 0;
        for (uint32_t g = 0; g < header_.groups; ++g)
            for (uint32_t p = 0; p < header_.policies; ++p) {
                const Decider& policy = header_.policy[p];
                if (policy.group != g || policy.agents == 0) continue;
                agents += "{" + std::to_string(p) + ", " + std::to_string(before) + ", " +
                          std::to_string(before + policy.agents - 1) + ", 1}, ";
                before += policy.agents;
            }
        for (uint32_t p = 0; p < header_.policies; ++p) names += "\"p" + std::to_string(p) + "\", ";
        return "#define NACELLE_POLICIES " + names + "\n#define NACELLE_ASSIGNED " + agents + "\n";
    }
    // How many agents follow each policy is known, which ones is not.
    std::string policies() const {
        std::string names, counts;
        uint32_t before = 0;
        for (uint32_t p = 0; p < header_.policies; ++p) {
            names += (p ? ", p" : "p") + std::to_string(p);
            before += header_.policy[p].agents;
            counts += " + (id >= " + std::to_string(before) + ")";
        }
        return "    enum class Policy { " + names +
               " };\n    static Policy which_agents_follow_a_policy_is_no_size(int id);\n"
               "    static constexpr Policy policy(int id) {\n"
               "        if (!__builtin_is_constant_evaluated()) return "
               "which_agents_follow_a_policy_is_no_size(id);\n"
               "        return Policy(0" +
               counts + ");\n    }\n";
    }
    // What a group sees, and what it may do when.
    std::string sight(uint32_t g) const {
        const std::string of_group = has_groups() ? group_name(g) + "::" : "";
        const std::string seen =
            is_team() ? "const nacelle::Team<StandIn>&, " + member(g) : std::string("const State&");
        std::string all =
            "    static void observe(" + seen + ", " + nothing + ", " + of_group + "Obs&) {}\n";
        if (header_.group[g].mask_width)
            all += "    static void mask(" + seen + ", " + nothing + ", nacelle::Mask<" + of_group +
                   "Action>&) {}\n";
        if (header_.group[g].has_turn)
            all += "    static nacelle::Turn turn(" + seen + ", " + nothing +
                   ") { return nacelle::Turn::acts; }\n";
        return all;
    }
    std::string functions() const {
        const std::string team = "nacelle::Team<StandIn>&, ", last = std::string(nothing);
        if (is_team())
            return "    static void reset(" + team + last +
                   ") {}\n    static nacelle::Ending step(" + team + last +
                   ") { return nacelle::Ending::running; }\n";
        return "    static void reset(State&, " + last +
               ", nacelle::Rng&) {}\n    static nacelle::Outcome step(State&, const Action&, " +
               last + ", nacelle::Rng&) { return {}; }\n";
    }

    const EnvSchema& schema_;
    const Header& header_;
};

bool is_shared(const Field& field) {
    switch (field.role) {
        case Role::action:
        case Role::obs:
        case Role::final_obs:
        case Role::mask:
        case Role::turn:
        case Role::ended:
        case Role::reward:
        case Role::terminated:
        case Role::truncated: return true;
        // Of the others an author may have some or none.
        case Role::episode: return std::string_view(field.name) == "episode.length";
        default: return false;
    }
}
// The slots of what both environments have, by what they are for: names differ.
std::map<std::tuple<Role, uint8_t, int>, int32_t> shared_slots(const EnvSchema& schema) {
    std::map<std::tuple<Role, uint8_t, int>, int32_t> slots;
    std::map<std::pair<Role, uint8_t>, int> count;
    for (const Field& field : schema.fields())
        if (is_shared(field) && field.slot >= 0)
            slots[{field.role, field.group, count[{field.role, field.group}]++}] = field.slot;
    return slots;
}

}

std::string stand_in_text(const EnvSchema& schema) { return StandIn(schema).text(); }

std::vector<std::byte> stand_in_view(const EnvSchema& stand_in, const EnvSchema& schema,
                                     std::span<const std::byte> view) {
    std::vector<std::byte> made(stand_in.header().view_size);
    std::memcpy(made.data(), view.data(), sizeof(ViewHead));
    const auto from = shared_slots(schema);
    for (const auto& [what, slot] : shared_slots(stand_in)) {
        const auto found = from.find(what);
        if (found == from.end()) continue;
        std::memcpy(made.data() + stand_in.header().array_offset + size_t(slot) * sizeof(void*),
                    view.data() + schema.header().array_offset +
                        size_t(found->second) * sizeof(void*),
                    sizeof(void*));
    }
    return made;
}

}
