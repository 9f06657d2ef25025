#pragma once
#include "tests/algorithms/recomputed.h"

// A whole iteration of one policy, put together from the parts of recomputed.h.
namespace nacelle::test {

// fn(row) for all rows that a policy learns from: those it decides for, where it plays nobody's past.
template <class Fn> void each_row(const PolicyForm& policy, const Kept& kept, Fn&& fn) {
    for (size_t row = 0; row < kept.rows; ++row)
        for (const size_t id : policy.agents)
            if (row % policy.in_group == id && policy.learns(row / policy.in_group, id)) fn(row);
}

// The rewards' scale, from the discounted returns of all that was seen so far.
class Returns final {
public:
    void see(const PolicyForm& policy, const Kept& kept);
    double scale() const;

private:
    std::vector<double> running_, all_;
};

// What an iteration must have found, [steps][rows] or [steps + 1][rows].
struct Found {
    std::vector<double> log_probability, value, advantage, target;
    std::vector<bool> known;
};
// `judge` knows the values, and the probabilities now, by which choices' probabilities have moved since.
Found found_by(const Scholar& judge, const PolicyForm& policy, const Kept& kept,
               double reward_scale);

// The entries of an array [steps][rows] or [steps + 1][rows] that mean something to the policy: those
// of its agents where they act, and after the last step.
std::vector<double> own(const PolicyForm& policy, const Kept& kept,
                        const std::vector<double>& array);

// All samples in the order of the learner's numbers for them: step by step, in a step by environment.
std::vector<Scholar::Sample> samples_of(const PolicyForm& policy, const Kept& kept,
                                        const Found& found);
// Their advantages moved to mean 0 and deviation 1, over those that act.
void normalise_advantages(std::vector<Scholar::Sample>& samples);

// Settings of a test's policies: those for all.
inline Json for_all(const Json& settings) { return {{"policies", {{"default", settings}}}}; }

}
