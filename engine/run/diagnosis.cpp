#include "engine/run/diagnosis.h"

#include "engine/arrays/dtype.h"
#include "engine/base/number_text.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

namespace nacelle {
namespace {

constexpr size_t most_readings = 1024, fewest_readings = 20;

// Below this share of what it was at first the entropy is gone; only where there was some.
constexpr double entropy_left = 0.02, some_entropy = 0.05;
// An update that moves a policy further than this, or that clips more samples, has left what PPO assumes; one below
// the smallest moves nothing.
constexpr double largest_kl = 0.1, smallest_kl = 1e-7, most_clipped = 0.4;
// Returns and observations beyond these are no scale for a network that is told them as they are.
constexpr double largest_return = 1000, largest_observation = 100;
// Beyond this a float's digits do not suffice for a normaliser either.
constexpr double absurd_observation = 1e7;
constexpr double mostly = 0.95;

using Values = std::vector<double>;

double mean_of(const Values& values, size_t from, size_t to) {
    return std::accumulate(values.begin() + std::ptrdiff_t(from),
                           values.begin() + std::ptrdiff_t(to), 0.0) /
           double(to - from);
}
// Of the first and of the last quarter.
double early(const Values& values) { return mean_of(values, 0, (values.size() + 3) / 4); }
double late(const Values& values) {
    return mean_of(values, values.size() - (values.size() + 3) / 4, values.size());
}

std::string digits(double value) { return rounded(value, 3); }

bool is_called(const std::string& name, const std::string& last) {
    return name == last || name.ends_with("." + last);
}

double largest(const Tensor& tensor) {
    double found = 0;
    const size_t size = dtype_size(tensor.dtype);
    for (size_t at = 0; at + size <= tensor.data.size(); at += size)
        found = std::max(found, std::abs(read_number(tensor.dtype, tensor.data.data() + at)));
    return found;
}

// Those of these remedies that the learner has the setting for; all where it has none, since not every learner tells its
// settings.
std::string remedy(const Json& learner,
                   std::initializer_list<std::pair<const char*, const char*>> all) {
    const bool tells = std::any_of(all.begin(), all.end(),
                                   [&](const auto& one) { return learner.contains(one.first); });
    std::string text;
    for (const auto& [setting, what] : all)
        if (!tells || learner.contains(setting))
            text += (text.empty() ? "" : " or ") + std::string(what);
    return text;
}

void look_at_observation(const Tensor& tensor, bool normalised, std::vector<Suspicion>& found) {
    const double size = largest(tensor);
    if (size > absurd_observation)
        found.push_back({tensor.name + " has numbers as large as " + digits(size),
                         "units in observe() that keep them below a thousand"});
    else if (!normalised && size > largest_observation)
        found.push_back({tensor.name + " has numbers as large as " + digits(size) +
                             ", and observations are not normalised",
                         "learner.normalise_observations: true"});
}

void look_at_mask(const Tensor& tensor, bool has_turns, std::vector<Suspicion>& found) {
    if (tensor.shape.size() != 2 || tensor.data.empty()) return;
    const auto rows = size_t(tensor.shape[0]), choices = size_t(tensor.shape[1]);
    size_t closed_rows = 0;
    for (size_t row = 0; row < rows; ++row) {
        const auto its = tensor.data.subspan(row * choices, choices);
        closed_rows +=
            std::all_of(its.begin(), its.end(), [](std::byte open) { return open == std::byte{}; });
    }
    // An agent that waits for its turn may have nothing to choose.
    if (!has_turns && closed_rows * 2 > rows)
        found.push_back({tensor.name + " leaves no choice open in " + std::to_string(closed_rows) +
                             " of " + std::to_string(rows) +
                             " rows, where the first choice is taken",
                         "opening at least one choice in mask()"});
}

void look_at_action(const Tensor& tensor, std::vector<Suspicion>& found) {
    if (tensor.dtype != Dtype::f32) return;
    Values values(tensor.data.size() / sizeof(float));
    for (size_t i = 0; i < values.size(); ++i)
        values[i] = read_number(tensor.dtype, tensor.data.data() + i * sizeof(float));
    if (values.empty()) return;
    const auto [low, high] = std::minmax_element(values.begin(), values.end());
    const auto at_bounds =
        std::count_if(values.begin(), values.end(), [lowest = *low, highest = *high](double value) {
            return value == lowest || value == highest;
        });
    if (*low < *high && double(at_bounds) >= mostly * double(values.size()))
        found.push_back({tensor.name + " is " + digits(*low) + " or " + digits(*high) + " in " +
                             std::to_string(at_bounds) + " of " + std::to_string(values.size()) +
                             " rows, and hardly anything between",
                         "policies.default.squash: true, or a smaller initial_deviation"});
}

}

void Diagnosis::add(const MetricValues& metrics) {
    if (readings_++ % every_ != 0) return;
    size_t longest = 0;
    for (const auto& [name, value] : metrics) {
        Values& its = series_[name];
        if (std::isfinite(value)) its.push_back(value);
        longest = std::max(longest, its.size());
    }
    if (longest < most_readings) return;
    every_ *= 2;
    for (auto& [name, values] : series_) {
        const size_t kept = (values.size() + 1) / 2;
        for (size_t i = 0; i < kept; ++i) values[i] = values[2 * i];
        values.resize(kept);
    }
}

const Values* Diagnosis::series(const std::string& name) const {
    const auto its = series_.find(name);
    return its != series_.end() && its->second.size() >= fewest_readings ? &its->second : nullptr;
}

// Whether an iteration has more than one update; also where the learner does not tell.
bool Diagnosis::updates_again(const std::string& kl) const {
    const Values* const updates = series(kl.substr(0, kl.size() - 2) + "updates");
    return !updates || *std::max_element(updates->begin(), updates->end()) > 1;
}

// Updates that leave everything at 0 had no sample: "" or "tagger." for the policy of such ones.
bool Diagnosis::learns_from_nothing(const std::string& policy) const {
    const auto all_of = [&](const std::string& name, auto&& holds) {
        const auto its = series_.find(policy + name);
        return its != series_.end() && !its->second.empty() &&
               std::all_of(its->second.begin(), its->second.end(), holds);
    };
    const auto nothing = [](double value) { return value == 0; };
    return all_of("updates", [](double value) { return value > 0; }) &&
           all_of("loss.policy", nothing) && all_of("loss.value", nothing) &&
           all_of("entropy", nothing) && all_of("gradient_norm", nothing);
}

void Diagnosis::look_at_policy(const std::string& name, const Values& values, const Json& learner,
                               std::vector<Suspicion>& found) const {
    if (values.size() < fewest_readings) return;
    const double first = early(values), last = late(values);
    // A learner that holds the entropy at a number of its own may let it fall to that.
    if (is_called(name, "entropy") && !learner.contains("target_entropy") && first > some_entropy &&
        last < entropy_left * first)
        found.push_back({name + " fell from " + digits(first) + " to " + digits(last) +
                             ", so that the policy explores no more",
                         remedy(learner, {{"entropy", "a larger learner.entropy"},
                                          {"learning_rate", "a smaller learner.learning_rate"}})});
    if (is_called(name, "explained_variance") && last < 0 && returns_differ())
        found.push_back(
            {name + " is " + digits(last) + ", so that values are worse than their mean",
             "policies.default.trunk: \"separate\", or a larger learner.value_weight"});
    if (is_called(name, "kl") && last > largest_kl)
        found.push_back({name + " is " + digits(last) +
                             ", so that an iteration leaves little of the policy before it",
                         "a smaller learner.learning_rate, or learner.target_kl: 0.02"});
    // The first update of an iteration is by the policy that has acted: without a second one it is always 0.
    if (is_called(name, "kl") && updates_again(name) &&
        *std::max_element(values.begin(), values.end()) < smallest_kl)
        found.push_back({name + " was never above " + digits(smallest_kl) +
                             ", so that the policy stays as it began",
                         "a larger learner.learning_rate"});
    if (is_called(name, "clip_fraction") && last > most_clipped)
        found.push_back({name + " is " + digits(last) + ", so that many samples teach nothing",
                         "a smaller learner.learning_rate or fewer learner.epochs"});
}

// Where all episodes return the same there is no variance to be explained.
bool Diagnosis::returns_differ() const {
    const Values *const returns = series("episode.return"), *const deviations =
                                                                series("episode.return_deviation");
    return !returns || !deviations || late(*deviations) > 0.01 * std::abs(late(*returns));
}

// Whether some policy's values explain what it gets: in a game of two sides what one gains the other loses, so that the
// sum of an episode is always 0.
bool Diagnosis::values_explain() const {
    return std::any_of(series_.begin(), series_.end(), [](const auto& one) {
        return is_called(one.first, "explained_variance") && late(one.second) > 0.05;
    });
}

void Diagnosis::look_at_episodes(const Json& learner, std::vector<Suspicion>& found) const {
    const Values* const returns = series("episode.return");
    const Values* const lengths = series("episode.length");
    const Values* const scale = series("reward_scale");
    // Somebody's own learner may mean something else by it.
    const auto own = learner.find("reward_scale");
    const double set = own != learner.end() && own->is_number() ? own->get<double>() : 1;
    const double told = returns ? late(*returns) * (scale ? late(*scale) : set) : 0;
    if (std::abs(told) > largest_return)
        found.push_back({"values are to be about " + digits(told) + ", as large as the returns",
                         remedy(learner, {{"normalise_returns", "learner.normalise_returns: true"},
                                          {"reward_scale", "a smaller learner.reward_scale"}})});
    if (!returns || !lengths) return;
    // First episodes that began at spread clocks are shorter, and return less.
    const auto alike = std::find_if(lengths->rbegin(), lengths->rend(),
                                    [&](double length) { return length != lengths->back(); });
    const auto from = size_t(lengths->rend() - alike);
    const auto [worst, best] = std::minmax_element(returns->begin(), returns->end());
    const Values* const deviations = series("episode.return_deviation");
    const double usual = deviations ? early(*deviations) : 0;
    const size_t first = from < returns->size() ? from : 0;
    const double gained =
        late(*returns) - mean_of(*returns, first, first + (returns->size() - first + 3) / 4);
    if (*worst == *best && *best == 0 && values_explain()) return;
    if (*worst == *best)
        found.push_back({"every episode returns " + digits(*best),
                         "a reward that tells better from worse on the way"});
    else if (from <= lengths->size() / 2 && lengths->back() > 1 && std::abs(gained) < usual / 2)
        found.push_back({"every episode ends at step " + digits(lengths->back()) +
                             " and returns what the first ones did",
                         "a larger time_limit or a reward on the way, if there is a goal"});
}

std::vector<Suspicion> Diagnosis::of_metrics(const Json& learner) const {
    std::vector<Suspicion> found;
    bool acts = false, idles = false;
    for (const auto& [name, values] : series_) {
        if (!is_called(name, "updates")) continue;
        const std::string policy = name.substr(0, name.size() - std::strlen("updates"));
        if (!learns_from_nothing(policy)) {
            acts = true;
            continue;
        }
        idles = true;
        const std::string whose =
            policy.empty() ? "" : " of '" + policy.substr(0, policy.size() - 1) + "'";
        found.push_back({"no agent" + whose + " acted, so that there was nothing to learn from",
                         "a turn() that returns nacelle::Turn::acts for some of them"});
    }
    for (const auto& [name, values] : series_) {
        const size_t dot = name.find('.');
        if (!learns_from_nothing("") &&
            !(dot != name.npos && learns_from_nothing(name.substr(0, dot + 1))))
            look_at_policy(name, values, learner, found);
    }
    if (acts || !idles) look_at_episodes(learner, found);
    return found;
}

std::vector<Suspicion> look_at_arrays(const std::vector<Tensor>& tensors, const Json& learner) {
    const auto normalised = learner.find("normalise_observations");
    const bool scaled = normalised == learner.end() || *normalised != false;
    const bool has_turns = std::any_of(tensors.begin(), tensors.end(), [](const Tensor& one) {
        return is_called(one.name, "turn");
    });
    std::vector<Suspicion> found;
    for (const Tensor& one : tensors) {
        if (is_called(one.name, "obs")) look_at_observation(one, scaled, found);
        if (is_called(one.name, "mask")) look_at_mask(one, has_turns, found);
        if (one.name.starts_with("action.") || one.name.find(".action.") != std::string::npos)
            look_at_action(one, found);
    }
    return found;
}

std::string suspicion_text(const Suspicion& suspicion) {
    return "suspicious: " + suspicion.what + "; try " + suspicion.remedy;
}

}
