#pragma once
#include "engine/base/log.h"
#include "engine/run/checkpoint.h"

#include <optional>
#include <string>
#include <vector>

namespace nacelle::tools {

// A player of a match as the command line names it.
struct NamedPlayer {
    std::string name;
    std::optional<Checkpoint> checkpoint;    // nothing: acts at random
    std::filesystem::path run;               // its directory; empty where there is none
};

inline constexpr const char* players_help =
    "Players: the directory of a run (its best checkpoint), RUN@latest, RUN@STEPS, RUN@all for "
    "each checkpoint that it "
    "has, a checkpoint's .json, or random";

// Reads the checkpoints of all players. Throws where one does not exist or is named twice.
std::vector<NamedPlayer> named_players(const std::vector<std::string>& words, const Log& log);

}
