#include "algorithms/common/spec_text.h"

#include "algorithms/common/encoder.h"
#include "algorithms/common/streamed_texts.h"

namespace learn {
namespace {

std::string spec_of(size_t number, const PolicySettings& policy, const NetworkShape& shape,
                    bool clips) {
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
           "    static constexpr int planes = " + std::to_string(policy.planes) + ";\n" +
           "    static constexpr bool streamed = " + word(policy.streamed()) + ";\n" +
           "    static constexpr Activation activation = Activation::" + policy.activation + ";\n" +
           "    static constexpr Deviation deviation = Deviation::" +
           (policy.deviation == "free" ? "free" : "from_state") + ";\n" +
           "    static constexpr int noise_steps = " + std::to_string(policy.noise_steps) + ";\n" +
           "    static constexpr Loss loss = Loss::" + (clips ? "clipped" : "plain") + ";\n" +
           "    static constexpr Encoder encoder = " + encoder_text(shape.encoder) + ";\n" +
           "    using Hidden = nacelle::detail::Ints<" + hidden + ">;\n};\n";
}

// The kernels of one policy, as macros of learn/kernels.h.
void add_kernels(ProgramTexts& texts, size_t number, const PolicySettings& policy,
                 const Settings& settings, const NetworkShape& shape, RolloutForm rollout_form,
                 bool as_gpu) {
    using Role = PolicySettings::Role;
    const auto add = [&](std::string& text, const std::string& name, const std::string& more = "") {
        text += "LEARN_" + name + "(" + std::to_string(number) + more + ")\n";
    };
    if (as_gpu && policy.role == Role::random) {
        add(texts.rest, "RANDOM");
        if (rollout_form == RolloutForm::steps) add(texts.rollout, "CHOOSE_RANDOMLY");
        return;
    }
    if (as_gpu) add(texts.rest, "PREPARE");
    const bool learns = policy.role == Role::trained;
    if (learns) {
        std::string& learning = as_gpu && !settings.emulates ? texts.learning : texts.rest;
        add(learning, "POLICY");
        if (!policy.streamed()) add(learning, "TOTAL");
    }
    if (policy.streamed()) {
        const StreamedTexts own = streamed_texts(settings, shape, uint32_t(number));
        texts.update += own.update;
        texts.rollout += own.rollout;
        texts.rest += own.rest;
        return;
    }
    add(texts.rest, "PLAYER");
    if (rollout_form == RolloutForm::steps) add(texts.rollout, "CHOOSE");
    if (!learns) return;
    if (rollout_form != RolloutForm::warps) add(texts.rollout, "CLOSE_ROLLOUT");
    if (policy.on_tensor_cores() && !policy.shared) add(texts.update, "FIND_VALUES");
    if (settings.traced) add(texts.update, "REVIEW");
    if (policy.on_tensor_cores())
        add(texts.update, "GRADIENT_WARPS",
            ", " + std::to_string(policy.threads) + ", " + std::to_string(policy.resident));
    else add(texts.update, "GRADIENT");
}

}

ProgramTexts program_texts(const Settings& settings, const std::vector<NetworkShape>& shapes,
                           const SchemaView& schema, RolloutForm rollout_form, bool as_gpu) {
    static const char* const forms[] = {"THREADS", "WARPS", "STEPS"};
    ProgramTexts texts;
    texts.rollout =
        std::string("LEARN_ROLLOUT_") + forms[int(rollout_form)] + "()\nLEARN_ENLIST()\n";
    texts.rest = "LEARN_ITERATION()\n";
    if (rollout_form == RolloutForm::warps) texts.play = "LEARN_PLAY_WARPS()\n";
    for (uint32_t g = 0; g < schema.header().groups; ++g) {
        texts.rest += "LEARN_GROUP(" + std::to_string(g) + ")\n";
        if (schema.image_elements(g))
            texts.rollout += "LEARN_GATHER_IMAGES(" + std::to_string(g) + ")\n";
    }
    std::string specs = "#include <learn/kernels.h>\nnamespace learn {\n";
    for (size_t p = 0; p < settings.policies.size(); ++p) {
        specs += spec_of(p, settings.policies[p], shapes[p], settings.clips);
        add_kernels(texts, p, settings.policies[p], settings, shapes[p], rollout_form, as_gpu);
    }
    specs += "}\nNACELLE_PROGRAM()\n";
    for (std::string* text :
         {&texts.update, &texts.rollout, &texts.play, &texts.rest, &texts.learning})
        if (!text->empty()) text->insert(0, specs);
    return texts;
}

}
