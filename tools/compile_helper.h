#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace nacelle::tools {

// This program, started as a process that compiles for another one: main() leaves such a call to help_compiling().
std::vector<std::string> compile_helper();
bool is_compile_helper(int count, char** arguments);
int help_compiling(char** arguments);

}
