#include "engine/match/policy_actor.h"

#include "engine/match/deciders.h"

#include <algorithm>

namespace nacelle {

PolicyActor::PolicyActor(Environment& env, Player player)
    : env_(env),
      player_(std::move(player)),
      deciders_(deciders_of(env)),
      memory_(player_.policies.size()) {
    for (uint32_t group = 0; group < deciders_.size(); ++group) groups_.emplace_back(env, group);
}

// Only first episodes are looked at: none begins later.
void PolicyActor::begin(uint32_t envs, uint64_t seed) {
    envs_ = envs;
    seed_ = seed;
    const Header& header = env_.schema().header();
    for (uint32_t p = 0; p < memory_.size(); ++p)
        memory_[p].assign(size_t(envs) * groups_[header.policy[p].group].agents() *
                              player_.policies[p]->description().memory(),
                          0.0f);
}

void PolicyActor::act(bool greedy, uint32_t, void*) {
    const Header& header = env_.schema().header();
    for (uint32_t g = 0; g < groups_.size(); ++g) {
        groups_[g].look();
        for (uint32_t p = 0; p < header.policies; ++p)
            if (header.policy[p].group == g) act_for(g, p, greedy);
        groups_[g].write_actions();
    }
}

void PolicyActor::act_for(uint32_t g, uint32_t p, bool greedy) {
    AgentArrays& group = groups_[g];
    const TrainedPolicy& policy = *player_.policies[p];
    rows_.clear();
    for (uint32_t row = 0; row < envs_ * group.agents(); ++row)
        if (deciders_[g][row % group.agents()] == p && group.acts(row)) rows_.push_back(row);
    const size_t memory = policy.description().memory();
    group.observe(rows_, policy.description(), observations_);
    actions_.resize(rows_.size() * group.parts());
    masks_.resize(rows_.size() * group.choices());
    remembered_.resize(rows_.size() * memory);
    for (size_t i = 0; i < rows_.size(); ++i) {
        group.mask(rows_[i], masks_.data() + i * group.choices());
        std::copy_n(memory_[p].data() + rows_[i] * memory, memory, remembered_.data() + i * memory);
    }
    const TrainedPolicy::Draws draws{.seed = seed_ + p, .step = env_.tick(), .rows = rows_};
    policy.act(observations_, actions_, masks_, greedy ? nullptr : &draws, remembered_);
    for (size_t i = 0; i < rows_.size(); ++i) {
        group.act(rows_[i], actions_.data() + i * group.parts());
        std::copy_n(remembered_.data() + i * memory, memory, memory_[p].data() + rows_[i] * memory);
    }
}

}
