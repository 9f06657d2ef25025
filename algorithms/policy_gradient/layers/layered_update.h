#pragma once
#include "algorithms/policy_gradient/plan/kernels.h"

#include <learn/cpu/streamed/arguments.h>

namespace learn {

// Whether a CPU computes a policy layer by layer over many rows, each layer a product of its own, and not tile by tile
// through all of them.
bool is_wide(const PolicySettings& policy, const NetworkShape& shape);

// The update of such a policy: its levels, and the order in which rows go through them.
class LayeredUpdate final {
public:
    LayeredUpdate(nacelle::plugin::Host host, const Kernels& kernels, const Settings& settings,
                  const NetworkShape& shape, uint32_t number);

    void make_levels();

    // All of these put their launches on the stream.
    void review(const Arguments& a, void* stream) const;
    void gradient(const Arguments& a, uint64_t samples, void* stream) const;

private:
    // fn(arguments) for the rows from `begin` to before `end`, as many at once as there is room for.
    template <class Fn>
    void each_part(const Arguments& a, uint64_t begin, uint64_t end, Fn&& fn) const;
    void launch(KernelName name, uint64_t count, const LayerArguments& a, void* stream) const {
        kernels_.launch(name, number_, a, stream, count);
    }
    void forward(LayerArguments& a, void* stream) const;
    void backward(LayerArguments& a, void* stream) const;

    nacelle::plugin::Host host_;
    const Kernels& kernels_;
    const PolicySettings& policy_;
    uint32_t number_, room_ = 0;
    std::vector<std::vector<int64_t>> networks_;    // widths
    uint64_t numbers_ = 0, agents_;
    uint32_t shards_;
    float* levels_ = nullptr;
};

}
