#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace nacelle {

// Finds "cartpole" in the first folder that has it, or takes a path to a .cu. Throws with the folders and the
// nearest name.
std::filesystem::path find_environment(const std::string& name,
                                       const std::vector<std::filesystem::path>& folders);

// All files of this name in the folders, in their order; a path names none.
std::vector<std::filesystem::path> files_of_name(const std::string& name,
                                                 const std::vector<std::filesystem::path>& folders);

// The files of settings that the name stands for: a path to a .json; or every NAME.json of the folders, in their order,
// where no environment has the name.
std::vector<std::filesystem::path>
settings_of_name(const std::string& name, const std::vector<std::filesystem::path>& folders);

}
