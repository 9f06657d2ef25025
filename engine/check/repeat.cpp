// Checks that one seed gives the same bits however an environment is run.
#include "engine/check/checks.h"

namespace nacelle {
namespace {

std::string size_text(uint32_t envs, uint32_t steps) {
    return std::to_string(envs) + (envs == 1 ? " environment" : " environments") + ", " +
           std::to_string(steps) + " steps";
}

struct Words {
    std::string same;      // of what passes
    std::string differ;    // of what does not
    std::string remedy;
};

// Compares two batches after the same steps, several times on the way, so that the reported step is close to the
// cause.
Finding compare(Session& session, Environment& a, Environment& b, uint32_t steps,
                const Words& words) {
    std::string found = difference(a, b);
    uint32_t at = 0;
    session.play(found.empty() ? steps : 0, [&](uint32_t i) {
        if (!found.empty()) return;
        a.step_at_random();
        b.step_at_random();
        at = i + 1;
        if (at < 6 || at % 16 == 0 || at == steps) found = difference(a, b);
    });
    if (found.empty()) return passed(words.same + " (" + size_text(a.count(), steps) + ")");
    return refused(words.differ + (at ? " after step " + std::to_string(at) : " after reset()") +
                       ": " + found,
                   words.remedy);
}

}

Finding check_determinism(Session& session) {
    const auto first = session.load_near_limit(Variant::plain());
    const uint32_t steps = session.steps();
    session.play(steps, [&](uint32_t) { first->step_at_random(); });
    // One after the other: the second one sees what the first one left in a static variable.
    const auto second = session.load_near_limit(Variant::plain());
    session.play(steps, [&](uint32_t) { second->step_at_random(); });
    const std::string found = difference(*first, *second);
    if (found.empty())
        return passed("two runs from one seed leave equal bytes in all arrays (" +
                      size_text(first->count(), steps) + ")");
    return refused("two runs from one seed differ: " + found,
                   "keep nothing in static variables, and draw random numbers from the Rng alone");
}

Finding check_split(Session& session) {
    const uint32_t envs = session.envs(), steps = session.steps(300);
    const uint32_t cut = envs == 2 ? 1 : envs / 3;
    const auto whole = session.load(Variant::plain());
    EnvSettings left_settings = session.settings(cut),
                right_settings = session.settings(envs - cut);
    right_settings.first_env += cut;
    const auto left = session.load(Variant::plain(), left_settings),
               right = session.load(Variant::plain(), right_settings);
    session.play(steps, [&](uint32_t) {
        for (Environment* env : {whole.get(), left.get(), right.get()}) env->step_at_random();
    });
    std::string found = difference(*whole, *left, {0, 0, cut});
    if (found.empty()) found = difference(*whole, *right, {cut, 0, envs - cut});
    if (found.empty())
        return passed("one batch of " + std::to_string(envs) + " and two of " +
                      std::to_string(cut) + " and " + std::to_string(envs - cut) +
                      " leave equal bytes (" + std::to_string(steps) + " steps)");
    return refused("an environment depends on the batch that it is in: " + found,
                   "an environment may use its own State alone: no static variables, no pointers");
}

Finding check_threads(Session& session) {
    const uint32_t steps = session.steps(300);
    for (const int threads : {2, 7}) {
        const auto many = session.load_near_limit(Variant::plain(threads));
        const auto reference = session.load_near_limit(Variant::plain(1));
        const Finding found = compare(session, *reference, *many, steps,
                                      {"", "1 thread and " + std::to_string(threads) + " differ",
                                       "environments share something that one of them writes: "
                                       "keep it in State"});
        if (found.verdict != Verdict::ok) return found;
    }
    return passed("1, 2 and 7 threads leave equal bytes (" + size_text(session.envs(), steps) +
                  ")");
}

Finding check_order(Session& session) {
    if (!session.schema().header().is_team) return skipped("one agent has no order");
    const auto forwards = session.load_near_limit(Variant::plain()),
               backwards = session.load_near_limit(Variant::reversed());
    return compare(session, *forwards, *backwards, session.steps(200),
                   {"agents visited from the first and from the last leave equal bytes",
                    "the order in which agents are visited shows",
                    "in a phase an agent may write its own member alone, and read of others only "
                    "what nobody writes in that phase; split the phase in two"});
}

Finding check_given_actions(Session& session) {
    const auto drawn = session.load_near_limit(Variant::plain()),
               given = session.load_near_limit(Variant::plain());
    std::vector<std::string> actions;
    for (const Field& field : session.schema().fields())
        if (field.role == Role::action) actions.push_back(field.name);
    const uint32_t steps = session.steps(200);
    std::string found;
    uint32_t at = 0;
    session.play(steps, [&](uint32_t i) {
        if (!found.empty()) return;
        drawn->step_at_random();
        for (const std::string& name : actions) copy_array(*drawn, *given, name);
        given->step();
        at = i + 1;
        found = difference(*drawn, *given);
    });
    if (found.empty())
        return passed("random actions, given again, lead to equal bytes (" +
                      size_text(drawn->count(), steps) + ")");
    return refused("the same actions led elsewhere in step " + std::to_string(at) + ": " + found,
                   "step() may depend on State, Action, Params and its Rng alone");
}

Finding check_gpu_path(Session& session) {
    const bool team = session.schema().header().is_team != 0;
    const uint32_t steps = session.steps(team ? 12 : 40);
    // Each emulated GPU thread is a thread of this machine: 128 for a team are used for few teams.
    struct Cut {
        int lanes;
        uint32_t envs;
    };
    std::vector<Cut> cuts = {{0, team ? 33u : session.envs()}};
    if (team) cuts.push_back({128, 3});
    for (const Cut& cut : cuts) {
        const auto loop = session.load_near_limit(Variant::plain(), cut.envs),
                   threads = session.load_near_limit(Variant::emulated(cut.lanes), cut.envs);
        const Finding found =
            compare(session, *loop, *threads, steps,
                    {"", "the GPU's code, run on threads, differs from the CPU's",
                     team ? "in a phase an agent may write its own member alone, never State, "
                            "others, or a captured variable; add up with team.sum()"
                          : "use plain data and the functions of nacelle/env.h alone"});
        if (found.verdict != Verdict::ok) return found;
    }
    return passed("the GPU's code, run on threads of this machine" +
                  std::string(team ? ", few and 128 to a team," : ",") +
                  " leaves the bytes of the CPU's (" + std::to_string(steps) + " steps)");
}

}
