#pragma once
#include <filesystem>
#include <string>

namespace nacelle {

// Who else could have put a file where it lies, in words that follow its name; empty where nobody could but this user
// and root.
std::string other_writer(const std::filesystem::path& file);

}
