#include "algorithms/off_policy/programs.h"

#include "algorithms/off_policy/headers.h"
#include "algorithms/policy_gradient/plan/headers.h"
#include "algorithms/policy_gradient/settings/precision.h"
#include "algorithms/replay/headers.h"

namespace off_policy {

Place place_of(const replay::LearnerSettings& settings, const nacelle_environment& environment,
               const nacelle_ranks& ranks) {
    Place place{.on_gpu = environment.on_gpu || settings.emulates,
                .emulates = settings.emulates,
                .ranks = ranks.ranks};
    place.peers =
        place.on_gpu && ranks.ranks > 1 && ranks.peers && ranks.ranks <= learn::most_peers;
    if (!place.on_gpu) return place;
    learn::require_tensor_cores(environment);
    // All bits of f32: Adam divides gradients by their size, so that small ones count as much as others.
    place.planes = settings.policy.precision == "bf16" ? 1 : 3;
    return place;
}

ProgramText program_text(const Place& place, const std::string& activation) {
    ProgramText program{
        "#include <learn/layout/spec.h>\nnamespace learn {\ntemplate <> struct Spec<0> {\n"
        "    static constexpr int planes = " +
            std::to_string(place.planes) +
            ";\n    static constexpr Activation activation = Activation::" + activation +
            ";\n    using Cells = nacelle::detail::Ints<>;\n};\n}\n"
            "#include <off_policy/kernels.h>\nNACELLE_PROGRAM()\n",
        {}};
    const auto add = [&](const char* name, const char* arguments,
                         uint32_t threads = learn::block_threads, uint32_t resident = 1) {
        program.kernels.push_back(name);
        program.text += "OFF_POLICY_KERNEL(" + std::string(name) + ", " + arguments + ", " +
                        std::to_string(threads) + ", " + std::to_string(resident) + ")\n";
    };
    for (const char* const name :
         {"observe_rows", "copy_outputs", "update_normaliser", "gather", "sample_actions",
          "policy_losses", "action_slopes", "value_losses", "largest_weight", "largest_priority",
          "open_gates", "finish_update", "measure_rows", "sum_tallies"})
        add(name, "off_policy::Arguments");
    for (const char* const name : {"sum_gradient", "measure_gradient", "adam"})
        add(name, "off_policy::Step");
    if (!place.on_gpu) {
        for (const char* const name : {"forward_layers", "backward_layers", "weigh_layers"})
            add(name, "off_policy::LayerProducts");
        return program;
    }
    add("prepare", "off_policy::Step");
    const auto add_product = [&](const char* name, uint32_t columns) {
        add(name, "learn::Products", learn::product_threads,
            learn::product_resident(place.planes, columns));
    };
    for (const char* const name : {"forward_64", "backward_64"}) add_product(name, 64);
    for (const char* const name : {"forward_128", "backward_128", "weights_128"})
        add_product(name, 128);
    return program;
}
std::vector<nacelle_header> all_headers() {
    std::vector<nacelle_header> all;
    for (const auto& headers :
         {learn::kernel_headers(), replay::kernel_headers(), kernel_headers()})
        all.insert(all.end(), headers.begin(), headers.end());
    return all;
}

Kernels::Kernels(nacelle::plugin::Host host, const Place& place, const std::string& activation)
    : host_(host), planes_(place.planes) {
    const ProgramText program = program_text(place, activation);
    std::vector<std::string> defines;
    if (place.emulates) defines.push_back("NACELLE_EMULATE");
    if (place.ranks > 1) defines.push_back("LEARN_RANKS=" + std::to_string(place.ranks));
    if (place.peers) defines.push_back("LEARN_PEERS=1");
    const uint32_t number = host_.program_of_sizes(program.text, all_headers(), defines);
    for (const char* const name : program.kernels)
        kernels_.emplace_back(name, host_.kernel(number, "off_policy_" + std::string(name)));
}
const nacelle_kernel& Kernels::kernel(const char* name) const {
    for (const auto& [its_name, kernel] : kernels_)
        if (its_name == name) return kernel;
    throw std::logic_error(name);
}
void Kernels::launch(const char* name, uint32_t columns, uint64_t blocks,
                     const learn::Products& args, void* stream) const {
    nacelle_launch shape{};
    shape.threads = learn::product_threads;
    shape.items = blocks * learn::product_threads;
    shape.shared_bytes = learn::product_bytes(planes_, columns);
    host_.launch(kernel(name), shape, args, stream);
}

}
