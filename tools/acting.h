#pragma once
#include "engine/run/configuration.h"
#include "tools/options.h"

namespace nacelle::tools {

// The configuration under which a run's policy acts: the run's own with the options' assignments, which may change the
// environment, and their models. On a CPU it computes in f32 with the weights that a GPU trained in bf16.
ResolvedConfiguration acting_configuration(const std::filesystem::path& run, const Options& options,
                                           bool on_gpu);
// The same for the run's environment alone, in which policies from elsewhere act.
ResolvedConfiguration environment_configuration(const std::filesystem::path& run,
                                                const Options& options);

}
