#include "algorithms/policy_gradient/run/rank_sums.h"

#include "algorithms/policy_gradient/run/peer_buffer.h"

#include <algorithm>

namespace learn {

RankSums::RankSums(nacelle::plugin::Host host, const Settings& settings,
                   const nacelle_environment& environment)
    : host_(host),
      settings_(settings),
      ranks_(settings.ranks),
      rank_(host.ranks().rank),
      peers_(settings.peers),
      overview_(settings.overview),
      policies_(settings.policies.size()) {
    const SchemaView schema(environment);
    for (uint32_t g = 0; g < schema.header().groups; ++g) {
        seen_.push_back(schema.seen(g));
        size_ += 1 + 2 * seen_.back();
    }
    if (overview_) size_ += 1 + 2 * overview_;
}

void RankSums::make_arrays(Arguments& a, const std::vector<PolicyPlan>& policies,
                           const std::vector<uint64_t>& floats) {
    a.rank = uint16_t(rank_);
    if (peers_) return make_peers(a, policies, floats);
    if (!hands_over()) return;
    const int64_t shape[] = {int64_t(size_ * ranks_)};
    a.of_ranks.sums = static_cast<double*>(
        host_.array_create("ranks.sums", uint32_t(nacelle::Dtype::f64), shape, false).data);
}

void RankSums::make_peers(Arguments& a, const std::vector<PolicyPlan>& policies,
                          const std::vector<uint64_t>& floats) {
    PeerBuffer buffer(ranks_);
    for (uint32_t p = 0; p < policies.size(); ++p) {
        if (!policies[p].learns) continue;
        if (policies[p].shots)
            buffer.add(gradients_of + p, floats[p], peer_tallies(a.policy[p].sum_blocks));
        constexpr uint64_t most_statistics = 6;
        buffer.add(statistics_of + p, 0, most_statistics);
    }
    for (uint32_t g = 0; g < seen_.size(); ++g)
        if (a.memory[g].normalises) buffer.add(observations_of + g, 0, 3 * seen_[g]);
    if (overview_) buffer.add(observations_of + overview_rows, 0, 3 * overview_);
    a.of_ranks.peers = buffer.connect(host_);
}

void RankSums::add_rollout(const Arguments& a, void* stream) const {
    if (!hands_over()) return;
    all_reduce(a, OfRanks::returns, size_ - OfRanks::returns, stream);
}
void RankSums::add_advantages(const Arguments& a, void* stream) const {
    if (hands_over()) all_reduce(a, 0, 6 * policies_, stream);
}
void RankSums::add_advantages(const Arguments& a, size_t policy, void* stream) const {
    if (hands_over()) all_reduce(a, 6 * policy, 6, stream);
}
void RankSums::add_gradient(const Arguments& a, size_t policy, const PolicyPlan& plan,
                            void* stream) const {
    if (plan.hands_over_gradient)
        host_.all_reduce(a.policy[policy].total, handed_over_floats(settings_, plan), NACELLE_SUM,
                         stream);
}
void RankSums::all_reduce(const Arguments& a, uint64_t first, uint64_t count, void* stream) const {
    host_.all_reduce(a.of_ranks.sums + first * ranks_, count * ranks_, NACELLE_SUM, stream);
}
uint64_t handed_over_floats(const Settings& settings, const PolicyPlan& plan) {
    if (!plan.hands_over_gradient) return plan.parameters;
    return plan.parameters * (settings.gathers && settings.ranks > 2 ? settings.ranks : 1) +
           uint64_t(tally_count * tally_parts) * settings.ranks;
}

}
