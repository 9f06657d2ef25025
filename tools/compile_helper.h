#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace nacelle::tools {

// The command that starts this program as a compile helper, empty where the program's path is unknown; and the entry
// of such a process in main().
std::vector<std::string> compile_helper(const std::filesystem::path& program);
bool is_compile_helper(int count, char** arguments);
int help_compiling(char** arguments);

}
