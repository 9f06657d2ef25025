#include "engine/run/iteration.h"

#include "engine/base/error.h"

namespace nacelle {

// A stream that stays in capture would fail all later calls.
Iteration::Iteration(LearnerInstance& learner, Stream& stream)
    : learner_(&learner), stream_(&stream) {
    if (learner.captures_itself()) return;
    stream.begin_capture();
    try {
        learner.record(stream.native());
    } catch (...) {
        try {
            stream.end_capture();
        } catch (const Error&) {
            // The first error is reported.
        }
        throw;
    }
    graph_ = stream.end_capture();
}

void Iteration::run() {
    if (graph_) stream_->replay(*graph_);
    else learner_->record(stream_->native());
}

}
