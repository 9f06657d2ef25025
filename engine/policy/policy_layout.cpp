#include "engine/policy/policy_layout.h"

namespace nacelle {
namespace {

void add(std::vector<PolicyMatrix>& to, const std::string& name, size_t inputs, size_t outputs,
         size_t& end) {
    to.push_back({name, end, inputs, outputs});
    end = to.back().end();
}

NetworkLayout layout_of(const PolicyDescription& description, size_t outputs, size_t first) {
    NetworkLayout layout;
    size_t end = first;
    const auto numbered = [](const char* name, size_t number) {
        return name + std::to_string(number);
    };
    for (const PolicyEncoder::Layer& layer : description.encoder.layers)
        add(layout.filters, numbered("convolutions.", layout.filters.size()), layer.patch(),
            layer.out, end);
    const std::vector<size_t>& sizes = description.sizes;
    for (size_t l = 0; l + 1 < sizes.size(); ++l) {
        const PolicyCell cell = description.cell(l);
        const size_t neurons = l + 2 < sizes.size() ? sizes[l + 1] : outputs;
        add(layout.layers, numbered("layers.", l), sizes[l], gates_of(cell) * neurons, end);
        if (matrices_of(cell) > 1)
            add(layout.layers, numbered("layers.", l) + ".memory", neurons,
                gates_of(cell) * neurons, end);
    }
    layout.end = end;
    return layout;
}

}

PolicyLayout policy_layout(const PolicyDescription& description) {
    PolicyLayout layout{.policy = layout_of(description, description.sizes.back(), 0),
                        .values = description.sizes.back() - description.outputs(),
                        .critic = {}};
    layout.critic = layout_of(description, 1, layout.policy.end);
    return layout;
}

}
