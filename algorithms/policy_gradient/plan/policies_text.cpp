#include "algorithms/policy_gradient/plan/policies_text.h"

#include "algorithms/policy_gradient/plan/spaces_text.h"

namespace learn {
namespace {

std::string convolutions_text(const Encoder& encoder) {
    std::vector<std::string> images, layers;
    for (int i = 0; i < encoder.images; ++i)
        images.push_back(JsonText()
                             .number("first", encoder.image[i].first)
                             .number("channels", encoder.image[i].channels)
                             .done());
    for (int l = 0; l < encoder.count; ++l) {
        const Convolution& c = encoder.layer[l];
        layers.push_back(JsonText()
                             .number("channels", c.out)
                             .number("rows", c.size_rows)
                             .number("columns", c.size_columns)
                             .number("stride", c.stride)
                             .number("padding", c.padding)
                             .done());
    }
    return JsonText()
        .number("rows", encoder.layer[0].rows)
        .number("columns", encoder.layer[0].columns)
        .number("one_hot", encoder.codes)
        .raw("images", list_text(images))
        .raw("layers", list_text(layers))
        .done();
}
// What each hidden layer is, where some remember.
std::string cells_text(const std::vector<Cell>& cells) {
    std::string text;
    for (const Cell cell : cells)
        text += (text.empty() ? "\"" : ", \"") + std::string(cell_name(cell)) + "\"";
    return "[" + text + "]";
}

}

std::string network_text(const PolicySettings& policy, const Encoder& encoder,
                         const std::vector<int64_t>& sizes, const std::string& weights) {
    JsonText text;
    text.text("weights", weights);
    if (encoder.count) text.raw("convolutions", convolutions_text(encoder));
    if (policy.remembers()) text.raw("cells", cells_text(policy.cells));
    return text.list("sizes", std::vector<double>(sizes.begin(), sizes.end()))
        .text("activation", policy.activation)
        .text("biases", "behind")
        .done();
}
std::string normaliser_text(const std::string& group) {
    return JsonText()
        .text("mean", group + ".obs.mean")
        .text("scale", group + ".obs.scale")
        .number("bound", double(most_normal))
        .done();
}

namespace {

std::string policy_text(const PolicySettings& policy, const NetworkShape& shape,
                        const SchemaView& schema) {
    JsonText text;
    text.raw("observation", observation_text(schema, policy.group, true));
    text.raw("actions", actions_text(schema, policy.group));
    if (policy.role == PolicySettings::Role::random) return text.raw("random", "true").done();
    text.raw("normaliser", normaliser_text(schema.header().group[policy.group].name));
    text.raw("network",
             network_text(policy, shape.encoder, shape.actor, policy.name + ".policy.weights"));
    text.raw("draws", "true");
    if (shape.reals == 0) return text.done();
    text.raw("squash", policy.squashed ? "true" : "false");
    text.list("log_deviation", {double(least_log_deviation), double(most_log_deviation)});
    return text.number("noise_steps", double(policy.noise_steps)).done();
}

}

std::string policies_text(const Settings& settings, const std::vector<NetworkShape>& shapes,
                          const SchemaView& schema) {
    JsonText text;
    for (const PolicySettings& policy : settings.policies)
        if (policy.own.there()) return "";
    for (size_t p = 0; p < settings.acting(); ++p)
        text.raw(settings.policies[p].name, policy_text(settings.policies[p], shapes[p], schema));
    return text.done();
}

}
