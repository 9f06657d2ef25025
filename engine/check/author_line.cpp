#include "engine/check/author_line.h"

#include "engine/base/error.h"
#include "engine/base/process.h"
#include "engine/jit/author_source.h"

#include <cstdio>
#include <sstream>

namespace nacelle {

std::string author_line(const std::string& object, uint64_t offset,
                        const std::filesystem::path& author) {
    if (object.empty() || find_program("addr2line").empty()) return {};
    char address[32];
    std::snprintf(address, sizeof address, "0x%llx", static_cast<unsigned long long>(offset));
    try {
        const auto files = read_closure(author);
        const ProcessResult asked = run_process({"addr2line", "-i", "-e", object, address});
        std::istringstream lines(asked.output);
        for (std::string line; std::getline(lines, line);) {
            const size_t colon = line.rfind(':');
            if (colon == line.npos) continue;
            const std::filesystem::path file = line.substr(0, colon);
            if (!find_file(files, file)) continue;
            // "12 (discriminator 3)"
            const std::string number = line.substr(colon + 1);
            return file.filename().string() + ":" + number.substr(0, number.find(' '));
        }
    } catch (const Error&) {
        // addr2line gave no position: the message has none.
    }
    return {};
}

}
