// Checks of whole episodes: the time limit, the masks, and continuing from a snapshot.
#include "engine/base/error.h"
#include "engine/check/checks.h"

#include <numeric>

namespace nacelle {
namespace {

std::string row_text(const EnvSchema& schema, const Field& field, size_t row, uint32_t envs) {
    const size_t each = schema.rows(field, envs) / envs;
    std::string text = "environment " + std::to_string(row / each);
    if (each > 1) text += ", agent " + std::to_string(row % each);
    return text;
}

// One discrete part of a group's action, and the offset of its choices in the group's mask.
struct MaskedPart {
    const Field* action;
    uint32_t part;         // of an array of parts
    uint32_t first = 0;    // of its choices in a row of the mask
};

// What is checked in every step of one group of agents.
struct Watched {
    const Field* mask = nullptr;
    const Field* turn = nullptr;
    std::vector<MaskedPart> parts;
};

std::vector<Watched> watched_groups(const EnvSchema& schema) {
    std::vector<Watched> groups(schema.header().groups);
    for (const Field& field : schema.fields()) {
        if (field.group >= groups.size()) continue;
        Watched& group = groups[field.group];
        if (field.role == Role::mask) group.mask = &field;
        if (field.role == Role::turn) group.turn = &field;
        if (field.role != Role::action || field.kind != Kind::discrete) continue;
        for (uint32_t part = 0; part < field.count; ++part) group.parts.push_back({&field, part});
    }
    for (Watched& group : groups) {
        uint32_t first = 0;
        for (MaskedPart& part : group.parts) {
            part.first = first;
            first += uint32_t(part.action->choices);
        }
    }
    return groups;
}

// The masks before a step.
struct Allowed {
    std::vector<double> mask, turn;
};
Allowed allowed_now(Environment& env, const Watched& group) {
    Allowed allowed;
    if (group.mask) allowed.mask = env.arrays()[group.mask->name].numbers();
    if (group.turn) allowed.turn = env.arrays()[group.turn->name].numbers();
    return allowed;
}

// The first violation of the rules in the chosen actions, with a remedy; empty where there is none.
struct Broken {
    std::string what, remedy;
};
Broken look(Environment& env, const Watched& group, const Allowed& before) {
    const EnvSchema& schema = env.schema();
    for (const MaskedPart& part : group.parts) {
        const std::vector<double> chosen = env.arrays()[part.action->name].numbers();
        const size_t rows = schema.rows(*part.action, env.count());
        const auto choices = uint32_t(part.action->choices);
        for (size_t row = 0; row < rows; ++row) {
            if (!before.turn.empty() && before.turn[row] != double(Turn::acts)) continue;
            const auto choice = int64_t(chosen[part.part * rows + row]);
            const std::string where = std::string(part.action->name) + " of " +
                                      row_text(schema, *part.action, row, env.count());
            if (choice < 0 || choice >= choices)
                return {where + " was " + std::to_string(choice),
                        "report this: the engine draws it"};
            if (before.mask.empty()) continue;
            const double* const allowed = before.mask.data() + row * group.mask->count + part.first;
            if (std::accumulate(allowed, allowed + choices, 0.0) == 0)
                return {"mask() forbids every choice of " + where,
                        "leave at least one choice to an agent that acts, if only to stay"};
            if (allowed[choice] == 0)
                return {where + " took choice " + std::to_string(choice) + ", which is forbidden",
                        "report this: the engine draws it"};
        }
    }
    return {};
}

std::vector<uint32_t> all_of(uint32_t count) {
    std::vector<uint32_t> list(count);
    std::iota(list.begin(), list.end(), 0u);
    return list;
}

// Recorded actions of several steps, to be repeated.
class Actions final {
public:
    explicit Actions(Environment& env) : env_(env) {
        for (const Field& field : env.schema().fields())
            if (field.role == Role::action) names_.push_back(field.name);
    }
    void note() {
        for (const std::string& name : names_) kept_.push_back(env_.arrays()[name].raw());
    }
    void put(size_t step, Environment& env) const {
        for (size_t i = 0; i < names_.size(); ++i) {
            NamedArray& array = env.arrays()[names_[i]];
            array.write_bytes(kept_[step * names_.size() + i].data(), array.count());
        }
    }

private:
    Environment& env_;
    std::vector<std::string> names_;
    std::vector<std::vector<std::byte>> kept_;
};

bool is_state(const Field& field) {
    return field.role == Role::state || field.role == Role::agent || field.role == Role::reward;
}

// Flags of the environments whose episode has not ended.
void drop_ended(Environment& env, std::vector<uint8_t>& running) {
    const std::vector<double> terminated = env.arrays()["terminated"].numbers(),
                              truncated = env.arrays()["truncated"].numbers();
    for (size_t i = 0; i < running.size(); ++i)
        running[i] = running[i] && terminated[i] == 0 && truncated[i] == 0;
}

// The first difference in an environment that is still running in both.
std::string running_difference(Environment& a, Environment& b,
                               const std::vector<uint8_t>& running) {
    for (uint32_t i = 0; i < running.size(); ++i) {
        if (!running[i]) continue;
        const std::string found = difference(a, b, {i, i, 1}, is_state);
        if (!found.empty()) return found;
    }
    return {};
}

}

Finding check_time_limit(Session& session) {
    const uint32_t limit = session.schema().header().time_limit;
    if (!limit) return skipped("episodes have no time limit");
    const auto env = session.load(Variant::plain());
    NamedArray& length = env->arrays()["episode.length"];
    const uint32_t last = std::min(3u, limit);
    std::vector<int32_t> close(length.count(), int32_t(limit - last));
    length.write_bytes(close.data(), close.size());
    std::vector<uint8_t> running(env->count(), 1);
    std::string found;
    uint32_t truncations = 0;
    session.play(last, [&](uint32_t i) {
        env->step_at_random();
        const std::vector<double> terminated = env->arrays()["terminated"].numbers(),
                                  truncated = env->arrays()["truncated"].numbers();
        for (uint32_t e = 0; e < env->count(); ++e) {
            if (!running[e]) continue;
            const bool over = terminated[e] != 0 || truncated[e] != 0;
            if (terminated[e] != 0 && truncated[e] != 0)
                found =
                    "environment " + std::to_string(e) + " was terminated and truncated at once";
            if (i + 1 == last && !over)
                found = "environment " + std::to_string(e) + " goes on after step " +
                        std::to_string(limit);
            truncations += i + 1 == last && truncated[e] != 0;
            running[e] = !over;
        }
    });
    if (!found.empty()) return refused(found, "report this: the engine keeps the time limit");
    return passed("episodes end at step " + std::to_string(limit) + ", " +
                  std::to_string(truncations) + " of " + std::to_string(env->count()) +
                  " by truncation");
}

Finding check_masks(Session& session) {
    const auto env = session.load_near_limit(Variant::plain());
    const std::vector<Watched> groups = watched_groups(env->schema());
    const uint32_t steps = session.steps(300);
    Broken broken;
    session.play(steps, [&](uint32_t) {
        if (!broken.what.empty()) return;
        std::vector<Allowed> before;
        for (const Watched& group : groups) before.push_back(allowed_now(*env, group));
        env->step_at_random();
        for (size_t g = 0; g < groups.size() && broken.what.empty(); ++g)
            broken = look(*env, groups[g], before[g]);
    });
    if (!broken.what.empty()) return refused(broken.what, broken.remedy);
    const bool masked = std::any_of(groups.begin(), groups.end(),
                                    [](const Watched& group) { return group.mask != nullptr; });
    if (!masked) return skipped("nothing is masked; choices layout in their spaces");
    return passed("a random policy takes no forbidden choice, and one is always left (" +
                  std::to_string(steps) + " steps)");
}

Finding check_snapshots(Session& session) {
    constexpr uint32_t ahead = 6;
    const uint32_t before = session.steps(20);
    const auto env = session.load(Variant::plain());
    EnvSettings other_seed = session.settings(env->count());
    other_seed.seed += 1000;
    const auto twin = session.load(Variant::plain(), session.settings(env->count())),
               stranger = session.load(Variant::plain(), other_seed);
    session.play(before, [&](uint32_t) {
        env->step_at_random();
        twin->step_at_random();
        stranger->step_at_random();
    });
    const std::vector<uint32_t> all = all_of(env->count());
    env->save_snapshots(all);
    stranger->save_snapshots(all);
    copy_states(*env, *stranger);
    // Equal states with other random numbers: they differ where step() draws.
    Actions actions(*env);
    std::vector<uint8_t> running(env->count(), 1);
    std::string by_chance;
    session.play(ahead, [&](uint32_t i) {
        env->step_at_random();
        actions.note();
        actions.put(i, *stranger);
        stranger->step();
        drop_ended(*env, running);
        drop_ended(*stranger, running);
        if (by_chance.empty()) by_chance = running_difference(*env, *stranger, running);
    });
    env->restore_snapshots(all, all);
    const auto state_only = [](const Field& field) {
        return field.role == Role::state || field.role == Role::agent;
    };
    std::string found = difference(*env, *twin, state_only);
    if (!found.empty())
        return refused("a restored snapshot is not what was saved: " + found,
                       "keep nothing outside State and Agent; else report this");
    if (!by_chance.empty())
        return passed("a restored snapshot is what was saved; step() draws, so that it goes on "
                      "otherwise");
    twin->save_snapshots(all);
    twin->restore_snapshots(all, all);
    std::vector<uint8_t> still(env->count(), 1);
    session.play(ahead, [&](uint32_t i) {
        if (!found.empty()) return;
        actions.put(i, *env);
        actions.put(i, *twin);
        env->step();
        twin->step();
        drop_ended(*env, still);
        drop_ended(*twin, still);
        found = running_difference(*env, *twin, still);
    });
    if (found.empty()) return passed("a restored snapshot is what was saved, and goes on alike");
    return refused("a restored snapshot goes on otherwise: " + found,
                   "an episode may depend on State and Params alone");
}

}
