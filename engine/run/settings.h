#pragma once
#include "engine/env/reloader.h"

#include <optional>

namespace nacelle {

// One of run.sinks: a name, or an object with the name and the sink's own settings.
struct SinkSettings {
    std::string name;
    Json config = Json::object();    // without the name
};

// How the policy acts in a run's evaluations: by its most likely actions, by actions that it draws, or each way, of
// which the better one counts.
enum class EvaluatedWay { greedy, sampled, both };

// "run", "solved" and "reload" of a configuration.
struct RunSettings {
    uint64_t total_steps = 10000000;
    uint64_t evaluate_every = 0;    // iterations; 0: never
    EvaluatedWay evaluate = EvaluatedWay::greedy;
    uint64_t report_every = 0;        // iterations; 0: by time
    uint64_t checkpoint_every = 0;    // steps; 0: only at the end
    uint64_t keep = 3;
    std::string communicator = "auto";
    bool peer_memory =
        true;    // ranks of one machine add up in one another's memory, where they reach it
    uint32_t ranks = 0;             // for each of which env.count counts; 0: as many as train
    double rank_timeout = 20;       // seconds
    std::optional<bool> stagger;    // the first episodes; none: where they need it
    std::vector<SinkSettings> sinks;
    std::optional<double> solved_return;
    uint64_t episodes = 100;    // of an evaluation
    ReloadSettings reload;
};

// Chooses defaults by the steps of one iteration. Throws for unknown keys and values out of bounds.
RunSettings read_run_settings(const Json& configuration, const std::string& where,
                              uint64_t steps_per_iteration);
// The communicator plugin that connects ranks: "run.communicator", or the usual one.
std::string communicator_of(const Json& configuration, const std::string& where, bool on_gpu);
// Whether ranks of one machine may add up in one another's memory: "run.peer_memory".
bool peer_memory_of(const Json& configuration, const std::string& where);
// For how many seconds ranks wait for one that neither answers nor comes to a sum: "run.rank_timeout".
double rank_timeout_of(const Json& configuration, const std::string& where);
// Writes them into a configuration, every default included.
void write_run_settings(const RunSettings& settings, Json& configuration);

}
