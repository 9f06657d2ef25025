#pragma once
#include <filesystem>
#include <vector>

namespace nacelle {

// The folders of an installed tree that a program of it reads.
struct Installation {
    std::filesystem::path environments, plugins;
};

// The installed folders. They are found from the file that this code runs from (`nacelle` or libnacelle.so), so that
// the tree may be moved. In a build they are where the build installs.
Installation installation();
// The build folder that this code runs from, or empty if it runs from an installed tree.
std::filesystem::path own_build();
// The folders of plugins, and that of environments, of the build or of the installed tree. Folders that others could change are
// left out, unless they could change the program, too.
std::vector<std::filesystem::path> own_plugins();
std::filesystem::path own_environments();
// True if the folder's environments belong to the program: to its installed tree, to the sources of its build, or to the
// Python package.
bool ships_environments(const std::filesystem::path& folder);
// The path of the running program, or empty where the system does not tell it.
std::filesystem::path running_program();

}
