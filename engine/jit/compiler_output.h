#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace nacelle {

// A location in a compiler's output.
struct SourcePlace {
    std::string file;
    int line = 0;
};

// One error or warning as a compiler printed it.
struct CompilerReport {
    bool error = true;
    SourcePlace place;    // the file is empty where the compiler named none
    std::string message;
    std::vector<SourcePlace> instantiated_from;    // the innermost first
    std::vector<SourcePlace> included_from;
    std::vector<SourcePlace> notes;
};

// What g++ or clang printed.
std::vector<CompilerReport> parse_gnu_output(std::string_view output);
// NVRTC's log.
std::vector<CompilerReport> parse_nvrtc_log(std::string_view log);

}
