#include "algorithms/common/streamed_texts.h"

namespace learn {

ProductWidths::ProductWidths(const NetworkShape& shape, int planes) {
    for (const auto* widths : {&shape.actor, &shape.critic})
        for (size_t l = 0; l + 1 < widths->size(); ++l) {
            forward.add((*widths)[l + 1], planes);
            if (l > 0 || shape.encoder.count) backward.add((*widths)[l], planes);
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
    const auto add_convolutions = [&](const char* way, int first) {
        for (int l = first; l < shape.encoder.count; ++l)
            texts.update += std::string("LEARN_CONV(") + way + ", " + std::to_string(number) +
                            ", " + std::to_string(l) + ", " + (policy.planes > 1 ? "1" : "2") +
                            ")\n";
    };
    const ProductWidths widths(shape, policy.planes);
    add("forward", widths.forward);
    add_convolutions("forward", 0);
    texts.rest = "LEARN_STREAM_PLAYER" + of;
    texts.rollout = "LEARN_STREAM_ROLLOUT" + of;
    if (policy.role != PolicySettings::Role::trained) return texts;
    add("backward", widths.backward);
    add("weights", {.narrow = false, .wide = true});
    add_convolutions("backward", 1);
    add_convolutions("weights", 0);
    texts.update += "LEARN_STREAM_LEARNER" + of;
    if (settings.traced) texts.update += "LEARN_STREAM_REVIEW" + of;
    return texts;
}

}
