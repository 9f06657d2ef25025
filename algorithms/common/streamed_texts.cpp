#include "algorithms/common/streamed_texts.h"

namespace learn {

ProductWidths::ProductWidths(const NetworkShape& shape, int planes) {
    for (const auto* widths : {&shape.actor, &shape.critic}) {
        const std::vector<MatrixSize> matrices = shape.matrices(*widths);
        for (size_t m = 0; m < matrices.size(); ++m) {
            forward.add(matrices[m].out, planes);
            if (m > 0) backward.add(matrices[m].in, planes);
        }
    }
}

StreamedTexts streamed_texts(const Settings& settings, const NetworkShape& shape, uint32_t number) {
    const PolicySettings& policy = settings.policies[number];
    const std::string of = "(" + std::to_string(number) + ")\n";
    StreamedTexts texts;
    const auto add = [&](const char* way, const BlockWidths& widths) {
        for (const uint32_t columns : {64u, 128u})
            if (columns == 64 ? widths.narrow : widths.wide)
                texts.update += std::string("LEARN_PRODUCT(") + way + ", " +
                                std::to_string(number) + ", " + std::to_string(columns) + ", " +
                                std::to_string(product_resident(policy.planes, columns)) + ")\n";
    };
    const ProductWidths widths(shape, policy.planes);
    add("forward", widths.forward);
    texts.rest = "LEARN_STREAM_PLAYER" + of;
    const bool remembers = policy.remembers();
    if (remembers) texts.rest += "LEARN_MEMORY_PLAYER" + of;
    texts.rollout = (remembers ? "LEARN_MEMORY_ROLLOUT" : "LEARN_STREAM_ROLLOUT") + of;
    if (policy.role != PolicySettings::Role::trained) return texts;
    add("backward", widths.backward);
    add("weights", {.narrow = false, .wide = true});
    texts.update += "LEARN_STREAM_LEARNER" + of;
    if (remembers) texts.update += "LEARN_MEMORY_LEARNER" + of;
    if (settings.traced)
        texts.update += (remembers ? "LEARN_MEMORY_REVIEW" : "LEARN_STREAM_REVIEW") + of;
    return texts;
}

}
