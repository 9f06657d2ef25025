#pragma once
#include "engine/run/auto_count.h"

namespace nacelle::tools {

// Makes the trials of "env.count": "auto" and puts the number into the configuration; the table goes to standard output
// unless `quiet`. Nothing where the configuration has a number.
std::optional<ChosenCount> find_count(const std::shared_ptr<RunsOn>& on, Plugins& plugins,
                                      Json& configuration, const std::string& where, bool json,
                                      bool quiet);

}
