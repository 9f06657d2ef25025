#pragma once
#include "engine/match/agent_arrays.h"
#include "engine/match/player.h"
#include "engine/run/actor.h"

namespace nacelle {

// Policies of files or checkpoints, which act in an evaluation on the host.
class PolicyActor final : public Actor {
public:
    PolicyActor(Environment& env, Player player);

    void begin(uint32_t envs, uint64_t seed) override;
    void act(bool greedy, uint32_t envs, void* stream) override;
    bool on_host() const override { return true; }
    uint32_t most_steps() const override { return 0; }
    void act(bool, uint32_t, const nacelle_first_episodes&, void*) override {}

private:
    void act_for(uint32_t group, uint32_t policy, bool greedy);

    Environment& env_;
    Player player_;
    std::vector<AgentArrays> groups_;
    std::vector<std::vector<uint8_t>> deciders_;    // of each agent, by groups
    uint32_t envs_ = 0;
    uint64_t seed_ = 0;
    std::vector<std::vector<float>> memory_;    // of all rows of each policy's group
    std::vector<uint32_t> rows_;                // those that act now
    std::vector<float> observations_, actions_, remembered_;
    std::vector<uint8_t> masks_;
};

}
