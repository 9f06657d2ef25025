#pragma once
#include <filesystem>
#include <string>

namespace nacelle {

// Says in words that follow the path who else could have put a file or folder there, could put others beside a file, or
// could exchange one of the folders and links on the way. Empty if only this user and root could. Members of the user's primary group count as
// the user.
std::string other_writer(const std::filesystem::path&);

}
