#pragma once
#include <filesystem>
#include <string>

namespace nacelle::tools {

// "runs/a@best" is the checkpoint best of runs/a, unless a file has that very name.
struct CheckpointWord {
    std::filesystem::path path;
    std::string checkpoint = "best";
};
CheckpointWord checkpoint_word(const std::string& word);

}
