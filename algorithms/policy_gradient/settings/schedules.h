#pragma once
#include "algorithms/policy_gradient/settings/json_text.h"
#include "algorithms/policy_gradient/settings/settings.h"

// Numbers among the settings that may follow a schedule over the run.
namespace learn {

using Schedules = Schedule[dial_count];

// A number between these bounds, or {"linear": [from, to]} over the run, {"cosine": ...}, {"exponential": ...}.
Schedule read_schedule(const nacelle::plugin::JsonValue* value, double low, double high,
                       const std::string& where, const Schedule& fallback);
void write_schedule(JsonText& json, const std::string& name, const Schedule& schedule);

// What they are where nothing is said.
void default_dials(const Algorithm& algorithm, Schedules& dials);
void read_dials(nacelle::plugin::Config& config, const std::string& path,
                const Algorithm& algorithm, bool traced, Schedules& dials);
void write_dials(JsonText& json, const Algorithm& algorithm, bool traced, const Schedules& dials);

}
