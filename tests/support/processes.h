#pragma once
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/types.h>

// Whether processes have ended. An orphan that has ended stays in the system's list, as a zombie, until the system's
// first process looks, which may take seconds: to send it signal 0 still succeeds.
namespace nacelle::test {

struct ProcessState {
    char state = 'X';    // as ps has it
    pid_t group = 0;
};

inline ProcessState state_of(const std::filesystem::path& folder) {
    std::ifstream file(folder / "stat");
    std::string text;
    std::getline(file, text);
    // The second word is a name in parentheses, which may have spaces.
    const size_t end = text.rfind(')');
    ProcessState found;
    int parent = 0;
    if (end != text.npos)
        std::sscanf(text.c_str() + end + 1, " %c %d %d", &found.state, &parent, &found.group);
    return found;
}

inline bool has_ended(pid_t process) {
    const char state = state_of("/proc/" + std::to_string(process)).state;
    return state == 'X' || state == 'Z';
}

inline bool has_ended_with_its_group(pid_t group) {
    const std::filesystem::directory_iterator all("/proc");
    return std::none_of(begin(all), end(all), [&](const auto& one) {
        const ProcessState found = state_of(one.path());
        return found.group == group && found.state != 'Z';
    });
}

}
