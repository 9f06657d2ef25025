#include "tools/compile_helper.h"

#include "engine/jit/cache.h"
#include "engine/jit/compile_helpers.h"

#include <string_view>

namespace nacelle::tools {
namespace {

constexpr const char* word = "compile-helper";

}

std::vector<std::string> compile_helper(const std::filesystem::path& program) {
    if (program.empty()) return {};
    return {program.string(), word};
}

// The cache's folder is the next argument.
bool is_compile_helper(int count, char** arguments) {
    return count == 3 && std::string_view(arguments[1]) == word;
}

int help_compiling(char** arguments) {
    try {
        const auto cache = std::make_shared<Cache>(arguments[2]);
        serve_compiles(
            0, [&](const std::string& architecture) { return open_nvrtc(architecture, cache); });
        return 0;
    } catch (const std::exception&) {
        return 1;    // nobody hears it: who asked for help goes on alone
    }
}

}
