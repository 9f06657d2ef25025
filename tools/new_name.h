#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace nacelle::tools {

// Throws where an environment cannot have this name, with one that it could have.
void require_good_name(const std::string& name);
// Throws where an environment of this name, or of one that is read as this one, is in a folder.
void require_free_name(const std::string& name, const std::vector<std::filesystem::path>& folders);
// The struct of a file: mountain_car is MountainCar.
std::string struct_name(const std::string& name);

}
