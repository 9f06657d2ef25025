#include "algorithms/common/spec_text.h"

namespace learn {
namespace {

std::string spec_of(size_t number, const PolicySettings& policy, bool clips) {
    static const char* const kinds[] = {"trained", "fixed", "random"};
    std::string hidden;
    for (const int64_t width : policy.hidden)
        hidden += (hidden.empty() ? "" : ", ") + std::to_string(width);
    const auto word = [](bool value) { return std::string(value ? "true" : "false"); };
    return "template <> struct Spec<" + std::to_string(number) + "> {\n" +
           "    static constexpr int group = " + std::to_string(policy.group) + ";\n" +
           "    static constexpr Kind kind = Kind::" + kinds[int(policy.role)] + ";\n" +
           "    static constexpr bool shared = " + word(policy.shared) +
           ", squashed = " + word(policy.squashed) + ";\n" +
           "    static constexpr Activation activation = Activation::" + policy.activation + ";\n" +
           "    static constexpr Deviation deviation = Deviation::" +
           (policy.deviation == "free" ? "free" : "from_state") + ";\n" +
           "    static constexpr Loss loss = Loss::" + (clips ? "clipped" : "plain") + ";\n" +
           "    using Hidden = nacelle::detail::Ints<" + hidden + ">;\n};\n";
}

}

std::string program_text(const Settings& settings, size_t groups) {
    std::string text = "#include <learn/kernels.h>\nnamespace learn {\n";
    for (size_t p = 0; p < settings.policies.size(); ++p)
        text += spec_of(p, settings.policies[p], settings.clips);
    text += "}\nLEARN_PROGRAM()\n";
    for (size_t g = 0; g < groups; ++g) text += "LEARN_GROUP(" + std::to_string(g) + ")\n";
    for (size_t p = 0; p < settings.policies.size(); ++p) {
        using Role = PolicySettings::Role;
        const Role role = settings.policies[p].role;
        const std::string number = "(" + std::to_string(p) + ")\n";
        text += "LEARN_PLAYER" + number;
        if (role != Role::random) text += "LEARN_NETWORK" + number;
        if (role == Role::trained) text += "LEARN_POLICY" + number;
    }
    return text;
}

}
