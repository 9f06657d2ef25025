#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace nacelle::tools {

// Throws where the name is invalid for an environment, and suggests a valid one.
void require_good_name(const std::string& name);
// Throws where a folder has an environment of this name.
void require_free_name(const std::string& name, const std::vector<std::filesystem::path>& folders);
// The name of the struct in a file: mountain_car gives MountainCar.
std::string struct_name(const std::string& name);

}
