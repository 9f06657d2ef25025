#pragma once
#include <filesystem>
#include <string>

namespace nacelle {

// Says in words that follow the path which other users could have put a file or folder there, could put files beside
// the file, or could exchange a folder or link on the way. Empty if only this user and root could. Members of the user's primary group count as
// the user.
std::string other_writer(const std::filesystem::path&);

}
