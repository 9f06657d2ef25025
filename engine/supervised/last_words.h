#pragma once
#include "engine/config/config.h"

#include <cstdint>
#include <optional>
#include <string>

namespace nacelle {

// Where a child was when it ended, as it has said itself.
struct CrashPlace {
    std::string object;    // the path of a shared object, empty where nobody knows
    uint64_t offset = 0;
};

// Out of a line of the channel that says so (report_crashes()); nothing where it says something else.
std::optional<CrashPlace> read_crash(const Json& word);

}
