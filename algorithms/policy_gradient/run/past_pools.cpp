#include "algorithms/policy_gradient/run/past_pools.h"

#include "algorithms/policy_gradient/plan/schema_view.h"
#include "algorithms/policy_gradient/plan/tensor_fit.h"

#include <algorithm>
#include <unistd.h>

namespace learn {
namespace {

using Kept = nacelle::plugin::Host::Kept;

// Elo of the first member, which has yet met nobody.
constexpr double first_rating = 1000;

Sample sample_of(const std::string& word) {
    return word == "latest" ? Sample::latest : word == "uniform" ? Sample::uniform : Sample::hard;
}

}

PastPool PastPools::make(size_t p, const NetworkShape& shape,
                         const nacelle_environment& environment) const {
    const PolicySettings& policy = settings_.policies[p];
    const std::string name = policy.name + ".past";
    const uint64_t members = uint64_t(policy.past.members), parameters = shape.parameters(),
                   width = uint64_t(shape.seen), envs = environment.envs,
                   groups = (envs + opponents_together - 1) / opponents_together;
    const bool gpu = environment.on_gpu || settings_.emulates;
    PastPool pool{};
    pool.words = gpu ? prepared_floats(shape, policy) : 0;
    pool.members = members;
    pool.every = uint64_t(policy.past.every);
    pool.sample = sample_of(policy.past.sample);
    const auto array = [&]<class T>(T*& to, const char* of, nacelle::Dtype type,
                                    std::vector<int64_t> sizes, Kept kept) {
        to = static_cast<T*>(host_.array_create(name + "." + of, uint32_t(type), sizes, kept).data);
    };
    using enum nacelle::Dtype;
    const auto count = [](uint64_t of) { return int64_t(of); };
    const double bytes = 4.0 * double(members) * double(parameters + pool.words + 2 * width),
                 there = double(sysconf(_SC_PHYS_PAGES)) * double(sysconf(_SC_PAGESIZE));
    const std::string takes = "a pool of " + std::to_string(members) + " takes " +
                              std::to_string(uint64_t(bytes)) + " bytes";
    const std::string path = "policies." + policy.name + ".opponents.pool";
    if (!environment.on_gpu && bytes > there)
        wrong(path, takes + ", and this machine has " + std::to_string(uint64_t(there)));
    try {
        array(pool.weights, "weights", f32, {count(members), count(parameters)}, Kept::by_all);
        if (gpu)
            array(pool.prepared, "prepared", f32, {count(members), count(pool.words)},
                  Kept::not_at_all);
    } catch (const std::exception& failed) {
        wrong(path, takes + ": " + failed.what());
    }
    array(pool.mean, "mean", f32, {count(members), count(width)}, Kept::by_all);
    array(pool.scale, "scale", f32, {count(members), count(width)}, Kept::by_all);
    array(pool.steps, "steps", u64, {count(members)}, Kept::by_all);
    array(pool.ready, "ready", u64, {count(members)}, Kept::not_at_all);
    array(pool.results, "results", u32, {count(members), result_count}, Kept::by_all);
    pool.counted = pool.results;
    if (settings_.ranks > 1) {
        array(pool.counted, "counted", u32, {count(members), result_count}, Kept::not_at_all);
        array(pool.summed, "summed", f64, {count(members), result_count}, Kept::not_at_all);
    }
    array(pool.place, "place", u32, {1}, Kept::not_at_all);
    array(pool.rating, "rating", f64, {count(members) + 1}, Kept::by_all);
    array(pool.opponent, "opponent", i32, {count(envs)}, Kept::by_each);
    array(pool.drawn, "drawn", i32, {count(groups)}, Kept::not_at_all);
    host_.write(pool.rating + members, &first_rating, sizeof first_rating);
    return pool;
}

void PastPools::make_arrays(Arguments& a, const std::vector<NetworkShape>& shapes,
                            const nacelle_environment& environment) {
    if (settings_.policies[0].past.form == Against::none) return;
    for (size_t p = 0; p < shapes.size(); ++p) pools_.push_back(make(p, shapes[p], environment));
    const int64_t sizes[] = {int64_t(pools_.size() * sizeof(PastPool))};
    a.pools = static_cast<PastPool*>(
        host_.array_create("pools", uint32_t(nacelle::Dtype::u8), sizes, Kept::not_at_all).data);
    host_.write(a.pools, pools_.data(), uint64_t(sizes[0]));
}

void PastPools::add_up_ranks(void* stream) const {
    for (const PastPool& pool : pools_)
        if (pool.summed)
            host_.all_reduce(pool.summed, pool.members * result_count, NACELLE_SUM, stream);
}

void PastPools::add_metrics(size_t p, const std::string& prefix,
                            nacelle::plugin::Metrics& out) const {
    if (pools_.empty()) return;
    // What this policy did is counted where it has met the other one's past.
    const PastPool &own = pools_[p], &met = pools_[pools_.size() - 1 - p];
    double rating = 0;
    std::vector<uint32_t> results(met.members * result_count);
    host_.read(&rating, own.rating + own.members, sizeof rating);
    host_.read(results.data(), met.results, results.size() * sizeof(uint32_t));
    double least = 1, sum = 0, games = 0;
    for (uint64_t k = 0; k < met.members; ++k) {
        const uint32_t* const its = results.data() + k * result_count;
        const double count = double(its[won]) + double(its[drawn]) + double(its[lost]),
                     points = double(its[won]) + 0.5 * double(its[drawn]);
        if (count > 0) least = std::min(least, points / count);
        games += count;
        sum += points;
    }
    out.add(prefix + "elo", rating);
    if (games == 0) return;
    out.add(prefix + "opponents.score", sum / games);
    out.add(prefix + "opponents.least_score", least);
}

}
