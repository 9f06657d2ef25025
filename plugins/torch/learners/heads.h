#pragma once
#include <ATen/ATen.h>
#include <nacelle/plugin/schema_view.h>
#include <vector>

namespace torch_learn {

// What a network's outputs mean for an action, as algorithms/README.md has it.
class Heads final {
public:
    Heads(const nacelle::plugin::Schema& schema, uint32_t group, bool squashed);

    struct Judged {
        at::Tensor log_probability, entropy;    // [n]
    };
    // Of the kept choices [n][parts]. `mask` is [n][choices], or undefined.
    Judged judge(const at::Tensor& outputs, const at::Tensor& mask,
                 const at::Tensor& choices) const;

private:
    struct Part {
        int64_t first, base, choices;    // output, place in the mask; none: it is continuous
        int64_t deviation;
    };
    void judge_discrete(const Part& part, const at::Tensor& outputs, const at::Tensor& mask,
                        const at::Tensor& choice, Judged& judged) const;
    void judge_continuous(const Part& part, const at::Tensor& outputs, const at::Tensor& choice,
                          Judged& judged) const;

    bool squashed_;
    std::vector<Part> parts_;
};

}
