#pragma once
#include "algorithms/policy_gradient/plan/plan.h"

// The conditions of the kernel table. A kernel exists for an owner that meets all conditions of its row.
namespace learn {

using Condition = bool (*)(const Place& place);
struct Where {
    Condition all[8] = {};

    bool holds(const Place& place) const {
        for (const Condition condition : all)
            if (condition && !condition(place)) return false;
        return true;
    }
};

namespace conditions {

inline bool on_gpu(const Place& p) { return p.run.on_gpu; }
inline bool on_cpu(const Place& p) { return !p.run.on_gpu; }
inline bool among_ranks(const Place& p) { return p.run.among_ranks; }
inline bool hands_over(const Place& p) { return p.run.hands_over; }
inline bool drafted(const Place& p) { return p.run.drafted; }
// The policy learns; of a kernel of the run, at least one policy.
inline bool learns(const Place& p) { return p.policy ? p.policy->learns : p.run.learns; }

inline bool in_steps(const Place& p) { return p.run.rollout == Rollout::steps; }
inline bool in_blocks(const Place& p) { return p.run.rollout == Rollout::blocks; }
inline bool in_warps(const Place& p) { return p.run.rollout == Rollout::warps; }
inline bool in_teams(const Place& p) { return p.run.rollout == Rollout::teams; }
inline bool in_memory(const Place& p) { return p.run.rollout == Rollout::remembering; }
inline bool in_residence(const Place& p) { return p.run.rollout == Rollout::resident; }
inline bool in_team_residence(const Place& p) { return p.run.rollout == Rollout::resident_teams; }
// A kernel of its own computes the values behind the last step.
inline bool closes_apart(const Place& p) { return in_steps(p) || in_blocks(p); }

inline bool images(const Place& p) { return p.group->has_images; }
inline bool overviews(const Place& p) { return p.group->is_overview; }
inline bool measured(const Place& p) { return p.group->is_measured; }

inline bool random(const Place& p) { return p.policy->execution == Execution::random; }
inline bool external(const Place& p) { return p.policy->execution == Execution::external; }
inline bool fused(const Place& p) { return p.policy->execution == Execution::fused; }
inline bool streamed(const Place& p) { return p.policy->is_streamed(); }
inline bool network(const Place& p) { return p.policy->has_network; }
inline bool acts(const Place& p) { return !p.policy->is_critic; }
inline bool values_alone(const Place& p) { return p.policy->is_critic; }
inline bool separate(const Place& p) { return p.policy->separate; }
inline bool recurrent(const Place& p) { return p.policy->remembers; }
inline bool feedforward(const Place& p) { return !p.policy->remembers; }
inline bool traced(const Place& p) { return p.policy->traced; }
inline bool scales_minibatches(const Place& p) { return p.policy->scales_minibatches; }
inline bool against_past(const Place& p) { return p.policy->against_past; }
inline bool hands_over_gradient(const Place& p) { return p.policy->hands_over_gradient; }
inline bool layered(const Place& p) { return p.policy->layered; }
inline bool not_layered(const Place& p) { return !p.policy->layered; }

inline bool forward_in_64(const Place& p) { return p.policy->forward.in_64; }
inline bool forward_in_128(const Place& p) { return p.policy->forward.in_128; }
inline bool back_in_64(const Place& p) { return p.policy->backward.in_64; }
inline bool back_in_128(const Place& p) { return p.policy->backward.in_128; }
inline bool in_clusters(const Place& p) { return p.policy->in_clusters; }
inline bool row_passed(const Place& p) { return p.policy->passes_rows; }
inline bool by_layers(const Place& p) { return !p.policy->passes_rows; }
inline bool last_at_once(const Place& p) { return p.policy->last_at_once; }
inline bool last_apart(const Place& p) { return !p.policy->last_at_once; }
inline bool first_at_once(const Place& p) { return p.policy->first_at_once(); }
inline bool resides(const Place& p) { return p.policy->resides; }
inline bool gru_in_64(const Place& p) { return p.policy->gru_in_64; }
inline bool gru_in_128(const Place& p) { return p.policy->gru_in_128; }
inline bool gru_in_steps(const Place& p) { return p.policy->gru_in_steps; }
// There is a convolution before this one, which needs slopes.
inline bool behind_another(const Place& p) { return p.convolution->layer > 0; }

}

}
