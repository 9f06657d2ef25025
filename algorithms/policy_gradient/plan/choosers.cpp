// Where a GPU adds up what a group observes: behind a rollout, or where choices are made for it.
#include "algorithms/policy_gradient/plan/plan.h"

#include <algorithm>
#include <utility>

namespace learn {
namespace {

// Blocks whose warps choose for a step's rows of many numbers one after the other, and add up what they see: where the
// sums have room beside a block's rows.
uint32_t choosers_of(const RunPlan& run, const PolicyPlan& plan, const Settings& settings,
                     const PolicySettings& policy, const NetworkShape& shape) {
    if (!run.on_gpu || run.rollout != Rollout::steps || plan.execution != Execution::fused ||
        plan.is_critic || !plan.has_network ||
        !TensorFit(shape.actor, policy.planes, policy.keeps_input()).sums_seen)
        return 0;
    const uint64_t blocks = for_warps(2 * divided_up(plan.rows, warp_rows) * warp_rows);
    return uint32_t(std::min<uint64_t>(divided_up(blocks, block_threads),
                                       settings.emulates ? 2 : choosers_at_once * processors));
}

}

// Where each row counts in every step and follows a policy whose blocks can add up what they see, these do, each policy's
// into slots of their own.
void Plan::share_sights(uint32_t number, const Settings& settings,
                        const std::vector<NetworkShape>& shapes) {
    if (settings.ranks * settings.shards > 1) return;    // a block's slot is of one shard alone
    GroupPlan& group = groups[number];
    std::vector<std::pair<PolicyPlan*, Choosers>> found;
    uint64_t rows = 0;
    uint32_t slots = 0;
    for (size_t p = 0; p < policies.size(); ++p) {
        if (settings.policies[p].group != number) continue;
        const uint32_t blocks =
            choosers_of(run, policies[p], settings, settings.policies[p], shapes[p]);
        if (blocks == 0) continue;
        found.push_back({&policies[p], {slots, blocks}});
        rows += policies[p].rows;
        slots += blocks;
    }
    if (rows != group.rows) return;
    for (const auto& [policy, choosers] : found) policy->choosers = choosers;
    group.choosers = {0, slots};
    group.is_measured = false;
}

}
