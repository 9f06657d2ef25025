#pragma once
#include "algorithms/off_policy/networks.h"

#include <span>

namespace off_policy {

// Rows inside a network: what each layer sees, what went into its activation where a slope needs that, and the slopes along
// that. Kernels outside read the outputs and write the last slopes.
struct Levels {
    uint32_t rows = 0;
    std::vector<Matrix> seen, kept, slopes;
    Matrix outputs{}, back{};    // back: slopes along what the first layer sees
};
Levels make_levels(const Arrays& arrays, const std::string& name, const Networks& networks,
                   const Matrix& seen, uint64_t rows, bool learns, bool keeps_input);
// The same rows, which see something else.
inline Levels seeing(Levels levels, const Matrix& seen) {
    levels.seen[0] = seen;
    return levels;
}

// Rows that go through one of some networks.
struct Pass {
    const Networks* networks;
    uint32_t number;
    bool following;
    const Levels* levels;
};

// Products of layers: a launch for each level of all passes, which have as many. Nothing is computed where `found`, of the
// learn::Found, says so.
class Layers final {
public:
    Layers(const Kernels& kernels, const Place& place) : kernels_(kernels), place_(place) {}

    void forward(std::span<const Pass> passes, const double* found, void* stream) const;
    // To the slopes along what went into the first activation, and where wished on to what is seen.
    void backward(std::span<const Pass> passes, bool to_seen, const double* found,
                  void* stream) const;
    void gradient(std::span<const Pass> passes, const double* found, void* stream) const;

private:
    void launch(const char* name, uint32_t columns, std::span<const learn::Product> products,
                const double* found, void* stream) const;
    void launch_by_width(const std::string& way, std::span<const learn::Product> products,
                         const double* found, void* stream) const;
    void level_forward(std::span<const Pass> passes, uint32_t l, const double* found,
                       void* stream) const;
    void level_backward(std::span<const Pass> passes, uint32_t l, const double* found,
                        void* stream) const;

    const Kernels& kernels_;
    const Place& place_;
};

}
