#pragma once
#include "engine/run/run.h"
#include "tools/options.h"
#include "tools/recording_options.h"
#include "tools/web.h"

#include <chrono>

namespace nacelle::tools {

// Options and state that 'train' and 'resume' share.
struct Training {
    Options options;
    bool quiet = false;
    RecordOptions record;
    WebOptions web;
    uint32_t ranks = 0;          // on this machine; 0: as a launcher says, or one
    uint64_t until = 0;          // steps after which it pauses; 0: at the run's end
    uint64_t episodes = 1000;    // of the evaluation at the end
    std::chrono::steady_clock::time_point start = std::chrono::steady_clock::now();
};

void add_training_options(Command command, Training& training);
// Creates the run, trains until it is over or interrupted, saves, evaluates and prints the result. The first Ctrl-C
// ends it in order; a second one at once.
void train_to_the_end(Training& training, const Json& configuration, const std::string& where,
                      const RunStart& start);

}
