#include "engine/run/run_diagnosis.h"

#include "engine/base/error.h"
#include "engine/run/checkpoint.h"
#include "engine/run/metrics_file.h"
#include "engine/run/run_summary.h"

namespace nacelle {

std::vector<Suspicion> suspicions_in(const std::filesystem::path& run, const Json& configuration) {
    if (summarise_run(run).progress == RunProgress::solved) return {};
    const Json learner = configuration.value("learner", Json::object());
    std::vector<Suspicion> found;
    try {
        Diagnosis diagnosis;
        read_metrics(metrics_file(run, configuration), [&](const MetricReading& reading) {
            diagnosis.add({reading.values.begin(), reading.values.end()});
        });
        found = diagnosis.of_metrics(learner);
    } catch (const Error&) {
        // Without metrics the arrays remain.
    }
    try {
        const auto newest = Checkpoints(run / "checkpoints").newest([](const std::string&) {});
        if (!newest) return found;
        for (Suspicion& one : look_at_arrays(newest->tensors, learner))
            found.push_back(std::move(one));
    } catch (const Error&) {
        // Which checkpoints are damaged is told with them.
    }
    return found;
}

}
