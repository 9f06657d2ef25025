#pragma once
#include <filesystem>
#include <string>

namespace nacelle {

// Names the way in which another user could replace a file or folder, an include next to the file, or a folder or link
// on the path, as words after the path. Empty if only this user and root could. Members of the user's primary group
// count as the user.
std::string other_writer(const std::filesystem::path&);

}
