#include "engine/device/cpu/machine.h"

#include <charconv>
#include <fstream>
#include <limits>

namespace nacelle {
namespace {

// The value of "key ... :" in a file of /proc, or an empty text.
std::string value_of(const char* file, const std::string& key) {
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);) {
        if (!line.starts_with(key)) continue;
        const size_t colon = line.find(':');
        if (colon == std::string::npos) continue;
        const size_t begin = line.find_first_not_of(" \t", colon + 1);
        return begin == std::string::npos ? std::string() : line.substr(begin);
    }
    return {};
}

// Where /proc does not tell, no limit applies.
size_t memory_bytes(const std::string& key) {
    const std::string value = value_of("/proc/meminfo", key);
    size_t kibibytes = 0;
    const auto read = std::from_chars(value.data(), value.data() + value.size(), kibibytes);
    if (read.ec != std::errc()) return std::numeric_limits<size_t>::max();
    return kibibytes * 1024;
}

}

std::string processor_name() {
    const std::string name = value_of("/proc/cpuinfo", "model name");
    return name.empty() ? "CPU" : name;
}

size_t machine_memory() { return memory_bytes("MemTotal"); }
size_t machine_memory_free() { return memory_bytes("MemAvailable"); }

}
