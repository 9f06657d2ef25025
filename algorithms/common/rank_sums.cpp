#include "algorithms/common/rank_sums.h"

namespace learn {

RankSums::RankSums(nacelle::plugin::Host host, const Settings& settings,
                   const nacelle_environment& environment)
    : host_(host), ranks_(settings.ranks), policies_(settings.policies.size()) {
    const SchemaView schema(environment);
    for (uint32_t g = 0; g < schema.header().groups; ++g) size_ += 1 + 2 * schema.seen(g);
    if (settings.overview) size_ += 1 + 2 * settings.overview;
}

void RankSums::make_arrays(Arguments& a) {
    if (!any()) return;
    const int64_t shape[] = {int64_t(size_)};
    a.of_ranks.sums = static_cast<double*>(
        host_.array_create("ranks.sums", uint32_t(nacelle::Dtype::f64), shape, false).data);
    a.of_ranks.count = ranks_;
}

void RankSums::add_rollout(const Arguments& a, void* stream) const {
    if (!any()) return;
    host_.all_reduce(a.of_ranks.sums + OfRanks::returns, size_ - OfRanks::returns, NACELLE_SUM,
                     stream);
}
void RankSums::add_advantages(const Arguments& a, void* stream) const {
    if (any()) host_.all_reduce(a.of_ranks.sums, 6 * policies_, NACELLE_SUM, stream);
}
void RankSums::add_advantages(const Arguments& a, size_t policy, void* stream) const {
    if (any()) host_.all_reduce(a.of_ranks.sums + 6 * policy, 6, NACELLE_SUM, stream);
}
void RankSums::add_gradient(const Arguments& a, size_t policy, uint64_t parameters,
                            void* stream) const {
    if (any())
        host_.all_reduce(a.policy[policy].total, parameters + tally_floats, NACELLE_SUM, stream);
}

}
