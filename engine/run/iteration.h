#pragma once
#include "engine/plugins/learner_instance.h"

namespace nacelle {

// A repeatable iteration of a learner: the replay of what it recorded, or the learner itself where it launches by
// itself. The learner outlives it.
class Iteration final {
public:
    Iteration(LearnerInstance& learner, Stream& stream);
    // Enqueues one iteration.
    void run();

private:
    LearnerInstance* learner_;
    Stream* stream_;
    std::unique_ptr<Graph> graph_;
};

}
