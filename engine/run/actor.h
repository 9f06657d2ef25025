#pragma once
#include "engine/plugins/learner_instance.h"

namespace nacelle {

// Who acts in an evaluation.
class Actor {
public:
    virtual ~Actor() = default;
    // All environments begin an episode; the first `envs` of them are played.
    virtual void begin(uint32_t envs, uint64_t seed) = 0;
    // Writes the actions of the first `envs` environments' rows, or of more, for the current observations. Changes nothing that
    // lasts beyond the evaluation.
    virtual void act(bool greedy, uint32_t envs, void* stream) = 0;
    // Whether act() works on the host, too, which a graph of it would leave out.
    virtual bool on_host() const = 0;
    // Or act() takes this many steps of the evaluation in one launch; 0: it does not.
    virtual uint32_t most_steps() const = 0;
    virtual void act(bool greedy, uint32_t steps, const nacelle_first_episodes& first,
                     void* stream) = 0;
};

// A learner with the policies that it trains.
class LearnerActor final : public Actor {
public:
    explicit LearnerActor(LearnerInstance& learner) : learner_(learner) {}
    void begin(uint32_t, uint64_t) override {}
    void act(bool greedy, uint32_t envs, void* stream) override {
        learner_.act(greedy, envs, stream);
    }
    bool on_host() const override { return learner_.captures_itself(); }
    uint32_t most_steps() const override { return learner_.most_steps(); }
    void act(bool greedy, uint32_t steps, const nacelle_first_episodes& first,
             void* stream) override {
        learner_.act(greedy, steps, &first, stream);
    }

private:
    LearnerInstance& learner_;
};

}
