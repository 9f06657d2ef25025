// How many rows a second a policy acts for on one core:
//     ninja -C build tests/policy/policy_speed && build/tests/policy/policy_speed
#include "engine/nacelle.hpp"
#include "engine/policy/read_policy_description.h"
#include "engine/policy/trained_policy.h"

#include <cstdio>
#include <ctime>

using namespace nacelle;

namespace {

// Time that this process was given: what else runs on the machine counts little.
double core_seconds() { return double(std::clock()) / CLOCKS_PER_SEC; }

void measure(const std::vector<size_t>& sizes, const char* activation, bool normalised,
             size_t rows) {
    nlohmann::json told = {
        {"observation", {{{"name", "obs"}, {"count", sizes.front()}}}},
        {"actions", {{{"name", "action"}, {"choices", sizes.back() - 1}}}},
        {"network", {{"weights", "w"}, {"sizes", sizes}, {"activation", activation}}},
        {"draws", true}};
    if (normalised) told["normaliser"] = {{"mean", "m"}, {"scale", "s"}, {"bound", 10}};
    const TrainedPolicy policy(
        read_policy_description({{"default", told}}, "", "speed"),
        [&](const std::string& name) {
            if (name != "w") return std::vector<float>(sizes.front(), name == "m" ? 0.0f : 1.0f);
            std::vector<float> weights;
            for (size_t l = 0; l + 1 < sizes.size(); ++l)
                for (size_t i = 0; i < (sizes[l] + 1) * sizes[l + 1]; ++i)
                    weights.push_back(0.1f * float(i * 7919 % 17) - 0.8f);
            return weights;
        },
        "speed");
    std::vector<float> seen(rows * sizes.front()), actions(rows);
    for (size_t i = 0; i < seen.size(); ++i) seen[i] = float(i * 31 % 101) * 0.02f - 1;
    double best = 0;
    for (int repetition = 0; repetition < 7; ++repetition) {
        const double start = core_seconds();
        size_t done = 0;
        double seconds = 0;
        while (seconds < 0.15) {
            policy.act(seen, actions, {}, nullptr);
            done += rows;
            seconds = core_seconds() - start;
        }
        best = std::max(best, double(done) / seconds);
    }
    std::string layers;
    for (const size_t size : sizes) layers += std::to_string(size) + " ";
    std::printf("%-18s %-5s %-12s %6zu rows a call  %8.3f M rows/s\n", layers.c_str(), activation,
                normalised ? "normalised" : "", rows, best * 1e-6);
}

}

int main() {
    for (const size_t rows : {1, 8, 32, 4096}) measure({4, 64, 64, 3}, "tanh", true, rows);
    measure({4, 64, 64, 3}, "relu", true, 4096);
    measure({4, 64, 64, 3}, "gelu", true, 4096);
    measure({17, 64, 64, 13}, "tanh", true, 4096);
    measure({71, 256, 256, 6}, "tanh", true, 4096);
    measure({363, 64, 64, 8}, "tanh", true, 4096);
}
