#pragma once
#include <filesystem>
#include <nacelle/plugin/config.h>

namespace nacelle::plugins {

// Which readings a sink writes: all, or the first after each so many steps. A run that is gone on with chooses the
// same ones as one that never stopped.
class Readings final {
public:
    explicit Readings(plugin::Config& config)
        : every_(static_cast<uint64_t>(config.integer("every", 1, 1, int64_t(1) << 53))) {}

    bool takes(uint64_t step) {
        const bool taken = every_ == 1 || step / every_ > last_ / every_;
        last_ = step;
        return taken;
    }
    void rewind(uint64_t step) { last_ = step; }

private:
    uint64_t every_, last_ = 0;
};

// The file that a sink writes in the run's folder, of a kind such as ".csv": nothing else there is overwritten.
inline std::filesystem::path file_of(plugin::Config& config, const std::string& kind) {
    const std::string name = config.text("file", "metrics" + kind);
    if (name.size() <= kind.size() || !name.ends_with(kind) || name.find('/') != name.npos)
        throw std::runtime_error("file: expected the name of a " + kind +
                                 " file in the run's folder, without a folder");
    return std::filesystem::path(config.text("out", ".")) / name;
}

}
