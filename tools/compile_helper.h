#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace nacelle::tools {

// The command that starts this program as a process that compiles for another one, or nothing where the program is
// not known; and what main() leaves such a call to.
std::vector<std::string> compile_helper(const std::filesystem::path& program);
bool is_compile_helper(int count, char** arguments);
int help_compiling(char** arguments);

}
