#include "engine/base/log.h"

#include <cstdio>
#include <utility>

namespace nacelle {
namespace {

// One call for the whole line, so that the lines of two threads do not mix.
void to_standard_error(LogLevel level, const std::string& text) {
    if (level < LogLevel::warning) return;
    const std::string line = (level == LogLevel::error ? "error: " : "warning: ") + text + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);
}

}

Log::Log() : writer_(to_standard_error) {}

Log::Log(Writer writer) : writer_(std::move(writer)) {}

void Log::write(LogLevel level, const std::string& text) const {
    if (writer_) writer_(level, text);
}

}
