#pragma once
#include "engine/config/config.h"

#include <cstdint>
#include <optional>
#include <string>

namespace nacelle {

// Where a child crashed, by its own report.
struct CrashPlace {
    std::string object;    // the path of a shared object, empty where unknown
    uint64_t offset = 0;
};

// Parses a report of report_crashes() from a line of the channel; nothing for other lines.
std::optional<CrashPlace> read_crash(const Json& word);

}
