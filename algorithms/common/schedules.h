#pragma once
#include "algorithms/common/json_text.h"
#include "algorithms/common/settings.h"

// Numbers among the settings that may follow a schedule over the run.
namespace learn {

using Schedules = Schedule[dial_count];

// What they are where nothing is said.
void default_dials(const Algorithm& algorithm, Schedules& dials);
void read_dials(nacelle::plugin::Config& config, const std::string& path,
                const Algorithm& algorithm, bool traced, Schedules& dials);
void write_dials(JsonText& json, const Algorithm& algorithm, bool traced, const Schedules& dials);

}
