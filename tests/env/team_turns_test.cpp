#include "tests/env/team_authors.h"
#include "tests/sdk/emulated.h"
#include "tests/support/random.h"
#include "tests/support/sanitized.h"

// Who acts, who waits and who is out: actions, masks, observations, rewards and endings of each.
using namespace nacelle;
using namespace nacelle::test;

namespace {

constexpr int acts = 0, out = 2;

// One step after another with turns drawn at random, followed by hand.
class Followed final {
public:
    Followed(Environment& env, uint64_t seed)
        : env_(env), dice_(seed), agents_(env.schema().header().agents) {
        for (size_t row = 0; row < rows(); ++row) turn_.push_back(int(row % agents_ % 3));
        returns_.assign(rows(), 0);
        length_.assign(env.count(), 0);
        CHECK(numbers(env, "turn") == as_numbers(turn_));
        check_observations(turn_, turn_);
        check_masks();
    }

    // `advance` does one step with the actions of the arrays.
    template <class Advance> void step(Advance advance) {
        std::vector<double> plan, pay, go, end;
        for (size_t row = 0; row < rows(); ++row) {
            plan.push_back(dice_.below(3));
            pay.push_back(dice_.uniform(-9, 9));
            go.push_back(dice_.below(3));
        }
        for (uint32_t e = 0; e < env_.count(); ++e)
            end.push_back(dice_.chance(0.1) + 2 * dice_.chance(0.1));
        write_numbers(env_, "agent.plan", plan);
        write_numbers(env_, "action.pay", pay);
        write_numbers(env_, "action.go", go);
        write_numbers(env_, "state.end", end);
        advance();
        check(plan, pay, go, end);
    }

private:
    size_t rows() const { return agents_ * env_.count(); }
    static std::vector<double> as_numbers(const std::vector<int>& list) {
        return {list.begin(), list.end()};
    }

    void check(const std::vector<double>& plan, const std::vector<double>& pay,
               const std::vector<double>& go, const std::vector<double>& end) {
        const std::vector<double> reward = numbers(env_, "reward"), ended = numbers(env_, "ended"),
                                  terminated = numbers(env_, "terminated"),
                                  truncated = numbers(env_, "truncated"),
                                  turn = numbers(env_, "turn"), given = numbers(env_, "action.pay"),
                                  went = numbers(env_, "action.go"),
                                  returns = numbers(env_, "episode.return"),
                                  seen = numbers(env_, "agent.seen_action"),
                                  seen_acts = numbers(env_, "agent.seen_acts"),
                                  length = numbers(env_, "episode.length");
        const std::vector<int> before = turn_;
        for (size_t row = 0; row < rows(); ++row) {
            CAPTURE(row);
            const size_t e = row / agents_;
            const bool acted = before[row] == acts;
            const int said = int(end[e]);
            if (row % agents_ == 0) ++length_[e];
            const bool stops = said == 1, cut = !stops && (said == 2 || length_[e] == 5);
            CHECK(terminated[e] == stops);
            CHECK(truncated[e] == cut);
            CHECK(length[e] == length_[e]);
            CHECK(given[row] == (acted ? double(float(pay[row])) : 0));
            CHECK(went[row] == (acted ? go[row] : 0));
            CHECK(reward[row] == given[row]);
            returns_[row] += float(reward[row]);
            CHECK(returns[row] == double(returns_[row]));
            // An agent ends once: when it goes out, or with those that are left. Who was out already
            // ends with the episode, too: its row begins anew.
            const bool went_out = int(plan[row]) == out && before[row] != out;
            CHECK(ended[row] == (went_out || stops || cut));
            turn_[row] = stops || cut ? int(row % agents_ % 3) : int(plan[row]);
            CHECK(turn[row] == turn_[row]);
            CHECK(seen_acts[row] == (acted && !stops && !cut));
            if (!stops && !cut)
                CHECK(seen[row] == double(float(given[row]) + 100.0f * float(went[row])));
        }
        check_endings(plan, before, terminated, truncated);
        check_masks();
    }
    void check_endings(const std::vector<double>& plan, const std::vector<int>& before,
                       const std::vector<double>& terminated,
                       const std::vector<double>& truncated) {
        std::vector<int> was(before);
        const std::vector<double> final_obs = numbers(env_, "final_obs");
        for (size_t row = 0; row < rows(); ++row) {
            const size_t e = row / agents_;
            if (terminated[e] == 0 && truncated[e] == 0) continue;
            check_row(final_obs, row, before[row], length_[e], plan[row]);
            was[row] = turn_[row];
            returns_[row] = 0;
        }
        for (size_t e = 0; e < env_.count(); ++e)
            if (terminated[e] + truncated[e] > 0) length_[e] = 0;
        check_observations(was, turn_);
    }
    void check_observations(const std::vector<int>& before, const std::vector<int>& now) {
        const std::vector<double> obs = numbers(env_, "obs");
        for (size_t row = 0; row < rows(); ++row)
            check_row(obs, row, before[row], length_[row / agents_], now[row]);
    }
    // Zero for who was out before the step and stays out.
    void check_row(const std::vector<double>& obs, size_t row, int before, int step, double plan) {
        CAPTURE(row);
        const bool nothing = before == out && int(plan) == out;
        CHECK(obs[3 * row] == (nothing ? 0 : double(row % agents_ + 1)));
        CHECK(obs[3 * row + 1] == (nothing ? 0 : step));
        CHECK(obs[3 * row + 2] == (nothing ? 0 : plan));
    }
    // Of those that act; the others may do anything, which nobody asks.
    void check_masks() {
        const std::vector<double> mask = numbers(env_, "mask");
        for (size_t row = 0; row < rows(); ++row)
            for (size_t k = 0; k < 3; ++k)
                CHECK(mask[3 * row + k] == (turn_[row] != acts || k == row % agents_ % 3));
    }

    Environment& env_;
    Dice dice_;
    size_t agents_;
    std::vector<int> turn_, length_;
    std::vector<float> returns_;
};

}

TEST_CASE("who waits does nothing and looks on, who is out shows nothing and ends once") {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    const Folder folder;
    const std::filesystem::path source = folder.write("plans.cu", plans);
    for (const int agents : few_if_sanitized<int>({1, 2, 33, 105}, {0, 2})) {
        CAPTURE(agents);
        Environment env(
            quick_cpu(),
            settings_of({{"source", source}, {"count", 5}, {"constants", {{"agents", agents}}}}));
        Followed followed(env, seed);
        for (int t = 0; t < 25; ++t) {
            CAPTURE(t);
            followed.step([&] { env.step(); });
        }
    }
}

TEST_CASE("so it is in the code of a GPU") {
    const uint64_t seed = fresh_seed();
    CAPTURE(seed);
    const Folder folder;
    const std::filesystem::path source = folder.write("plans.cu", plans);
    for (const int agents : {3, 40}) {
        CAPTURE(agents);
        Environment env = on_threads(
            settings_of({{"source", source}, {"count", 3}, {"constants", {{"agents", agents}}}}),
            0);
        Followed followed(env, seed);
        for (int t = 0; t < 12; ++t) {
            CAPTURE(t);
            followed.step([&] { env.step(); });
        }
    }
}

TEST_CASE("random play takes what the masks of those who act allow, and nothing for the others") {
    const Folder folder;
    Environment env(cpu(),
                    settings_of({{"source", folder.write("plans.cu", plans)}, {"count", 50}}));
    for (int t = 0; t < 20; ++t) {
        const std::vector<double> turn = numbers(env, "turn");
        env.step_at_random();
        const std::vector<double> go = numbers(env, "action.go"), pay = numbers(env, "action.pay");
        for (size_t row = 0; row < go.size(); ++row) {
            CHECK(go[row] == (turn[row] == acts ? double(row % 6 % 3) : 0));
            CHECK((pay[row] != 0) == (turn[row] == acts));
        }
    }
}
