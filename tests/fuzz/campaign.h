#pragma once
#include "tests/fuzz/target.h"

#include <filesystem>

namespace nacelle::fuzz {

struct CampaignSettings {
    double seconds = 60;
    uint64_t seed = 1;
    std::filesystem::path folder;    // where inputs that are findings are kept, and read again
    std::string program;             // as it was called, to say how an input is repeated
};

// Reads inputs of one target for so long, each in a child process of this one, and prints what was found
// and one line with the sum. Whether nothing was found.
bool run_campaign(const NamedTarget& target, const CampaignSettings& settings);

}
