#pragma once
#include "plugins/torch/learners/gpu.h"

#include <map>
#include <nacelle/plugin/host.h>

namespace torch_learn {

// Work of LibTorch and of kernels on the host's stream. On a GPU it becomes a graph once it has run a few times, since
// libraries prepare themselves when they are called first.
class CapturedWork final {
public:
    // Without a GPU: null.
    CapturedWork(nacelle::plugin::Host host, Gpu* gpu) : host_(host), gpu_(gpu) {}

    // `kind` tells apart works that differ.
    void run(void* stream, int kind, const std::function<void()>& work);
    // Not to be captured, by the host either.
    void once(void* stream, const std::function<void()>& work);

private:
    static constexpr int warm_up = 2;
    struct Kept {
        int runs = 0;
        std::function<void()> replay;
    };
    nacelle::plugin::Host host_;
    Gpu* gpu_;
    uint64_t version_ = 0;    // of the environment whose kernels were captured
    std::map<int, Kept> kept_;
};

}
