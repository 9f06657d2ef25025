// Reading the statistics of finished episodes, and of the first number that was not finite.
#include "engine/base/error.h"
#include "engine/base/finite.h"
#include "engine/base/number_text.h"
#include "engine/env/environment.h"

#include <cmath>

namespace nacelle {
namespace {

using detail::Bad;

// "not a number in column 2": the first number of a row that is not finite.
std::string found_in(const NamedArray& array, uint64_t rows, uint64_t at) {
    const std::vector<double> values = array.numbers();
    const size_t width = values.size() / rows;
    for (size_t i = 0; i < width; ++i) {
        const double value = values[at * width + i];
        if (is_not_finite(value))
            return not_finite_text(value) + (width > 1 ? " in column " + std::to_string(i) : "");
    }
    return "not finite";
}

// Rows count over all agents of an environment, group after group.
[[noreturn]] void report_bad(Environment& env, uint64_t key) {
    const Header& header = env.schema().header();
    const auto what = Bad((key & 0xffffffffu) >> detail::bad_row_bits);
    const uint64_t now = env.tick(), row = key & ((1u << detail::bad_row_bits) - 1),
                   index = row / header.agents, step = now - ((now - (key >> 32)) & 0xffffffffu);
    uint64_t agent = row % header.agents;
    uint32_t group = 0;
    while (agent >= header.group[group].count) agent -= header.group[group++].count;
    const uint64_t count = header.group[group].count, at = index * count + agent;
    const std::string prefix = header.groups > 1 ? std::string(header.group[group].name) + "." : "",
                      who = header.is_team ? "agent " + std::to_string(agent) + " of " : "",
                      where = " of " + who + "environment " + std::to_string(index) + " is ",
                      since = " since step " + std::to_string(step);
    if (what == Bad::action)
        throw Error(env.name(), prefix + "action" + where + "not finite" + since,
                    "the environment does not choose actions: a learner that has diverged does; a "
                    "smaller learner.learning_rate, or rewards of a smaller scale, may help");
    const std::string name = prefix + (what == Bad::obs ? "obs" : "reward");
    throw Error(env.name(),
                name + where + found_in(env.arrays()[name], env.count() * count, at) + since);
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
    if (bad != ~uint64_t(0)) report_bad(*this, bad);
}

}
