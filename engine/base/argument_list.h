#pragma once
#include <string>
#include <vector>

namespace nacelle {

// The argument array of exec and posix_spawn: the parts of the command, then null. The command must outlive it.
inline std::vector<char*> argument_list(const std::vector<std::string>& command) {
    std::vector<char*> list;
    for (const std::string& part : command) list.push_back(const_cast<char*>(part.c_str()));
    list.push_back(nullptr);
    return list;
}

}
