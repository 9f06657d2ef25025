#pragma once
#include <filesystem>

namespace nacelle {

// The folders of an installed tree that a program of it reads.
struct Installation {
    std::filesystem::path environments, plugins;
};

// The installed folders. They are found from the file that this code runs from (`nacelle` or libnacelle.so), so that
// the tree may be moved. In a build they are where the build installs.
Installation installation();
// The path of the running program, or empty where the system does not tell it.
std::filesystem::path running_program();

}
