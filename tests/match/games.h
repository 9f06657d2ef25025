#pragma once
#include "engine/match/meeting.h"
#include "tests/env/workbench.h"

// Games whose results are known, and players that always do the same.
namespace nacelle::test {

// Three agents of one policy against two of another, whose ids lie between theirs. An agent gets its pick times its id
// plus 1; the last one also a thousand times its push. Nobody may pick 0. Agent 1 waits in every
// other step.
inline constexpr const char* duel = R"(#include <nacelle/env.h>
struct Duel {
    static constexpr int agents = 5, time_limit = 6;
    enum class Policy { left, right };
    struct Params { float unused = 0; };
    struct State { int start; };
    struct Agent {};
    struct Action { nacelle::Discrete<4> pick; nacelle::Continuous<> push; };
    struct Obs { float start, id; };
    using Team = nacelle::Team<Duel>;
    using Member = nacelle::Member<Duel>;
    static constexpr Policy policy(int id) { return id % 3 == 1 ? Policy::right : Policy::left; }
    static void reset(Team& team, const Params&) {
        team.once([](State& s, nacelle::Rng& rng) { s.start = rng.below(1000000); });
    }
    static nacelle::Ending step(Team& team, const Params&) {
        team.each([](Member& me) {
            me.reward = float(int(me.action.pick) * (me.id + 1)) + (me.id == 4 ? 1000 * float(me.action.push) : 0);
        });
        return nacelle::Ending::running;
    }
    static void mask(const Team&, const Member&, const Params&, nacelle::Mask<Action>& allow) {
        allow.forbid(&Action::pick, 0);
    }
    static nacelle::Turn turn(const Team& team, const Member& me, const Params&) {
        const bool waits = me.id == 1 && team.episode().step % 2;
        return waits ? nacelle::Turn::waits : nacelle::Turn::acts;
    }
    static void observe(const Team& team, const Member& me, const Params&, Obs& obs) {
        obs = {float(team.state().start), float(me.id)};
    }
};
NACELLE_ENV(Duel)
)";

// A policy of one layer that sees nothing: its outputs are the biases.
inline std::shared_ptr<const TrainedPolicy> fixed_policy(const std::string& name, size_t inputs,
                                                         std::vector<PolicyPart> actions,
                                                         std::vector<float> biases,
                                                         uint64_t noise_steps = 1) {
    PolicyDescription description{.name = name,
                                  .observation = {{"obs", inputs}},
                                  .actions = std::move(actions),
                                  .weights = "weights",
                                  .sizes = {inputs, biases.size()},
                                  .draws = true,
                                  .least_log_deviation = -10,
                                  .most_log_deviation = 2,
                                  .noise_steps = noise_steps};
    return std::make_shared<TrainedPolicy>(
        std::move(description),
        [&](const std::string&) {
            std::vector<float> numbers(inputs * biases.size());
            numbers.insert(numbers.end(), biases.begin(), biases.end());
            return numbers;
        },
        "a test");
}

// Picks the same in every step of a duel, and pushes by so much.
inline std::shared_ptr<const TrainedPolicy> duellist(const std::string& name, size_t pick,
                                                     float push, float log_deviation = -10,
                                                     uint64_t noise_steps = 1) {
    std::vector<float> biases(4);
    biases[pick] = 50;
    biases.push_back(push);
    biases.push_back(log_deviation);
    return fixed_policy(name, 2,
                        {{"action.pick", {.choices = 4}}, {"action.push", {.low = -1, .high = 1}}},
                        biases, noise_steps);
}

// Drops each stone into one column of Connect Four, and where that is full into the one that is worth most of the
// others.
inline Player stacker(size_t column) {
    std::vector<float> biases(7);
    for (size_t i = 0; i < 7; ++i) biases[i] = i == column ? 50.0f : float(i);
    return {.name = "column " + std::to_string(column),
            .policies = {fixed_policy("agent", 85, {{"action.column", {.choices = 7}}}, biases)}};
}

}
