#pragma once
#include "algorithms/common/networks.h"

#include <functional>
#include <learn/cpu/streamed/arguments.h>
#include <nacelle/plugin/host.h>

namespace learn {

// Whether a CPU computes a policy layer by layer over many rows, each layer a product of its own, and not tile by tile
// through all of them.
bool is_wide(const NetworkShape& shape);

// The update of such a policy: its levels, its kernels, and the order in which rows go through them.
class LayeredUpdate final {
public:
    // Finds the policy's kernels by name.
    using Find = std::function<nacelle_kernel(const std::string& name)>;
    LayeredUpdate(nacelle::plugin::Host host, const Settings& settings, const NetworkShape& shape,
                  uint32_t number, uint32_t envs);

    void find_kernels(const Find& find, bool reviews);
    void make_levels();

    // All of these put their launches on the stream.
    void review(const Arguments& a, void* stream) const;
    void gradient(const Arguments& a, uint64_t samples, void* stream) const;

private:
    template <class Fn> void each_part(const Arguments& a, uint64_t rows, Fn&& fn) const;
    void launch(const nacelle_kernel& kernel, uint64_t tasks, const LayerArguments& a,
                void* stream) const;
    void forward(LayerArguments& a, void* stream) const;
    void backward(LayerArguments& a, void* stream) const;

    nacelle::plugin::Host host_;
    const PolicySettings& policy_;
    uint32_t number_, room_ = 0;
    std::vector<std::vector<int64_t>> networks_;    // widths
    uint64_t numbers_ = 0, agents_ = 0;
    float* levels_ = nullptr;
    nacelle_kernel see_rows_{}, forward_layer_{}, backward_layer_{}, layer_gradient_{},
        find_slopes_{}, review_rows_{};
};

}
