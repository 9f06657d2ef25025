#pragma once
#include <filesystem>
#include <string>

namespace nacelle {

// Says in words that follow the file's name who else could have put the file where it lies. Empty if only this user and
// root could. Members of the user's primary group count as the user.
std::string other_writer(const std::filesystem::path& file);

}
