// Reading the statistics of finished episodes, and of the first number that was not finite.
#include "engine/base/error.h"
#include "engine/env/environment.h"

#include <cmath>

namespace nacelle {
namespace {

// Rows count over all agents of an environment, group after group.
[[noreturn]] void report_bad(Environment& env, const char* array, uint64_t key) {
    const Header& header = env.schema().header();
    const uint64_t now = env.tick(), row = (key & 0xffffffffu) >> 1, index = row / header.agents;
    const uint64_t step = now - ((now - (key >> 32)) & 0xffffffffu);
    uint64_t agent = row % header.agents;
    uint32_t group = 0;
    while (agent >= header.group[group].count) agent -= header.group[group++].count;
    const bool named = header.groups > 1;
    const std::string name = (named ? std::string(header.group[group].name) + "." : "") + array;
    const std::vector<double> values = env.arrays()[name].numbers();
    const uint64_t rows = uint64_t(env.count()) * header.group[group].count,
                   at = index * header.group[group].count + agent;
    const size_t width = values.size() / rows;
    std::string found;
    for (size_t i = 0; i < width; ++i) {
        const double value = values[at * width + i];
        if (std::isfinite(value)) continue;
        found = " is " +
                std::string(std::isnan(value) ? "not a number"
                            : value > 0       ? "infinite"
                                              : "minus infinity") +
                (width > 1 ? " in column " + std::to_string(i) : "");
        break;
    }
    const std::string who = header.is_team ? "agent " + std::to_string(agent) + " of " : "";
    throw Error(env.name(), name + " of " + who + "environment " + std::to_string(index) +
                                (found.empty() ? " is not finite" : found) + " since step " +
                                std::to_string(step));
}

}

Totals Environment::take_totals() {
    const uint64_t groups = (uint64_t(settings_.count) + totals_group - 1) / totals_group;
    const size_t width = sums_.bytes() / sizeof(double) / groups;
    const Header& header = schema().header();
    const size_t kept = 2 + 2 * size_t(header.policies);
    const TotalsArgs args{.sums = static_cast<double*>(sums_.data()),
                          .logs = static_cast<uint32_t>(width - kept)};
    launch(stepwise_.totals, thread_each(groups), args_of(args));
    std::vector<double> sums(sums_.bytes() / sizeof(double));
    on_->stream->to_host(sums.data(), sums_.data(), sums_.bytes());
    on_->stream->synchronize();
    std::vector<double> whole(width);
    for (size_t i = 0; i < sums.size(); ++i) whole[i % width] += sums[i];
    if (on_->ranks)
        HostRanks(*on_->ranks, on_->device, *on_->stream).all_reduce(whole, Reduction::sum);
    Totals totals;
    totals.episodes = whole[0];
    const double n = std::max(1.0, whole[0]);
    totals.mean_length = whole[1] / n;
    for (uint32_t p = 0; p < header.policies; ++p) {
        const double mean = whole[2 + 2 * p] / n, square = whole[3 + 2 * p] / n;
        totals.policies.push_back(
            {header.policy[p].name, mean, std::sqrt(std::max(0.0, square - mean * mean))});
    }
    totals.mean_return = totals.policies[0].mean_return;
    totals.return_deviation = totals.policies[0].return_deviation;
    size_t at = kept;
    for (const std::string& name : schema().log_names())
        totals.log.emplace_back(name, whole[at++] / n);
    return totals;
}

void Environment::check_finite() {
    uint64_t bad = 0;
    on_->stream->to_host(&bad, &clock()->bad, sizeof bad);
    on_->stream->synchronize();
    if (bad != ~uint64_t(0)) report_bad(*this, bad & 1 ? "obs" : "reward", bad);
}

}
