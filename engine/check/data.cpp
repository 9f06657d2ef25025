// Checks what an author's functions read and write.
#include "engine/base/error.h"
#include "engine/check/checks.h"

#include <cstring>

namespace nacelle {
namespace {

bool is_stored(const Field& field) {
    return field.role == Role::state || field.role == Role::agent;
}
bool is_seen(const Field& field) {
    return field.role == Role::obs || field.role == Role::global || field.role == Role::mask;
}

// The number that is not finite; after a step that finds one, no further step has an effect.
std::string not_finite(Environment& env) {
    try {
        env.check_finite();
    } catch (const Error& error) {
        return error.reason();
    }
    return {};
}

std::string before(const std::string& text, const char* mark) {
    return text.substr(0, text.find(mark));
}

// A struct that holds an Array cannot be assigned as a whole.
std::string remedy_of_reset(const EnvSchema& schema) {
    const std::string every = "write every field of State in reset(), ";
    for (const Field& field : schema.fields())
        if (is_stored(field) && field.kind == Kind::array)
            return every + "an Array by its fill: " + (std::strchr(field.name, '.') + 1) +
                   ".fill(0)";
    return every + "for example by s = {};";
}

}

Finding check_indices(Session& session) {
    // A fault ends the process with a message, so that this line means success.
    const auto env = session.load_near_limit(Variant::checked());
    const uint32_t steps = session.steps();
    session.play(steps, [&](uint32_t) { env->step_at_random(); });
    return passed("every index of an Array, a Table and a C array lies within its size (" +
                  std::to_string(env->count()) + " environments, " + std::to_string(steps) +
                  " steps)");
}

Finding check_reset_writes(Session& session) {
    const auto zeroes = session.load(Variant::checked()), ones = session.load(Variant::checked());
    for (const Role role : {Role::state, Role::agent}) {
        fill_role(*zeroes, role, 0);
        fill_role(*ones, role, 1);
    }
    session.doing("reset() or observe()");
    zeroes->reset();
    ones->reset();
    std::string found = difference(*zeroes, *ones, is_stored);
    if (!found.empty())
        return refused("reset() leaves " + before(found, " of environment") +
                           " as it was: a new episode depends on the last one",
                       remedy_of_reset(session.schema()));
    found = difference(*zeroes, *ones, is_seen);
    if (!found.empty())
        return refused("observe(), mask() or overview() leaves a number unwritten: " + found,
                       "write every number of Obs, whatever the state is");
    return passed("what was in the arrays before does not show after reset()");
}

Finding check_observe_writes(Session& session) {
    const auto zeroes = session.load_near_limit(Variant::checked()),
               ones = session.load_near_limit(Variant::checked());
    const uint32_t steps = session.steps(60);
    std::string found;
    session.play(steps, [&](uint32_t) {
        if (!found.empty() || !not_finite(*zeroes).empty()) return;
        fill_role(*zeroes, Role::obs, 0);
        fill_role(*ones, Role::obs, 1);
        zeroes->step_at_random();
        ones->step_at_random();
        if (not_finite(*zeroes).empty()) found = unwritten(*zeroes, *ones, Role::obs);
    });
    if (found.empty())
        return passed("observe() writes every number of Obs (" + std::to_string(steps) + " steps)");
    return refused("observe() leaves a number unwritten: " + found,
                   "write every number of Obs, whatever the state is");
}

Finding check_same_as_checked(Session& session) {
    const auto plain = session.load_near_limit(Variant::plain()),
               checked = session.load_near_limit(Variant::checked());
    const bool team = session.schema().header().is_team != 0;
    const uint32_t steps = session.steps(200);
    std::string found = difference(*plain, *checked);
    uint32_t at = 0;
    session.play(steps, [&](uint32_t i) {
        if (!found.empty()) return;
        plain->step_at_random();
        checked->step_at_random();
        at = i + 1;
        found = difference(*plain, *checked);
    });
    if (found.empty())
        return passed(team ? "phases that read a frozen copy of their start, and locals filled "
                             "with a pattern, leave the same bytes (" +
                                 std::to_string(steps) + " steps)"
                           : "locals filled with a pattern leave the same bytes (" +
                                 std::to_string(steps) + " steps)");
    const std::string when = at ? " in step " + std::to_string(at) : " in reset()";
    if (team)
        return refused("a phase reads, or writes for another, what an agent writes in it (a race)" +
                           when + ": " + found,
                       "give the readers a phase of their own: a phase writes its own member and "
                       "reads of others only what nobody writes in that phase");
    return refused("something is read that was never written" + when + ": " + found,
                   "give every local variable and every field of a returned Obs a value");
}

Finding check_finite(Session& session) {
    const auto env = session.load_near_limit(Variant::plain());
    const uint32_t steps = session.steps();
    session.play(steps, [&](uint32_t) { env->step_at_random(); });
    if (const std::string found = not_finite(*env); !found.empty())
        return refused(found, "look for a division by zero, the root or the logarithm of a "
                              "negative number, or a value that grows without end");
    return passed("rewards and observations are finite (" + std::to_string(env->count()) +
                  " environments, " + std::to_string(steps) + " steps)");
}

}
