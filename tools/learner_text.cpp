#include "tools/learner_text.h"

#include <algorithm>

namespace nacelle::tools {
namespace {

Json at(const Json& object, const char* key) {
    return object.is_object() ? object.value(key, Json()) : Json();
}
std::string plain(const Json& value) {
    return value.is_string() ? value.get<std::string>() : json_text(value);
}
void append(std::string& text, const std::string& more, const char* between = ", ") {
    if (!more.empty()) text += (text.empty() ? "" : between) + more;
}

// "4 epochs", "1 epoch"
std::string times_text(const Json& count, const char* one, const char* many) {
    if (count.is_null()) return {};
    return plain(count) + " " + (count == 1 ? one : many);
}

// "64", "conv 16 of 3 x 3 stride 2", "one-hot 6"
std::string layer_text(const Json& layer) {
    if (!layer.is_object()) return plain(layer);
    if (const Json codes = at(layer, "one_hot"); !codes.is_null()) return "one-hot " + plain(codes);
    const Json size = at(layer, "size"), stride = at(layer, "stride"),
               padding = at(layer, "padding");
    if (size.is_null()) return plain(layer);
    const bool two = size.is_array() && size.size() == 2;
    std::string text = "conv " + plain(at(layer, "conv")) + " of " + plain(two ? size[0] : size) +
                       " x " + plain(two ? size[1] : size);
    if (!stride.is_null() && stride != 1) text += " stride " + plain(stride);
    if (!padding.is_null() && padding != 0) text += " padding " + plain(padding);
    return text;
}

// "[64, 64] tanh shared bf16"
std::string policy_text(const Json& policy) {
    const Json train = at(policy, "train");
    if (train == "random") return "random";
    std::string text, widths;
    if (const Json hidden = at(policy, "hidden"); hidden.is_array()) {
        for (const Json& layer : hidden) append(widths, layer_text(layer));
        text = "[" + widths + "]";
    }
    for (const char* const key : {"activation", "trunk", "precision"})
        if (const Json value = at(policy, key); !value.is_null()) append(text, plain(value), " ");
    for (const char* const execution : {"row_pass", "streamed"})
        if (at(policy, "execution") == execution) text += std::string(" ") + execution;
    return train == false ? text + " not trained" : text;
}

// One text where all are equal. "default" stands for unnamed ones.
std::string policies_text(const Json& policies) {
    if (!policies.is_object()) return {};
    std::vector<std::string> texts;
    std::string named;
    for (const auto& [name, policy] : policies.items()) {
        if (name == "default" && policies.size() > 1) continue;
        texts.push_back(policy_text(policy));
        append(named, name + " " + texts.back());
    }
    const bool same =
        std::adjacent_find(texts.begin(), texts.end(), std::not_equal_to<>()) == texts.end();
    return same && !texts.empty() ? texts[0] : named;
}

std::string normalised_text(const Json& learner) {
    std::string text;
    if (at(learner, "normalise_observations") == true) text = "observations";
    if (at(learner, "normalise_returns") == true) append(text, "returns", " and ");
    return text.empty() ? text : text + " normalised";
}

}

std::string learner_text(const Json& configuration) {
    const Json learner = at(configuration, "learner");
    std::string text, updates = times_text(at(learner, "epochs"), "epoch", "epochs");
    if (const Json name = at(learner, "name"); !name.is_null()) text = plain(name);
    append(updates, times_text(at(learner, "minibatches"), "minibatch", "minibatches"), " x ");
    append(text, updates, " ");
    append(text, policies_text(at(configuration, "policies")));
    append(text, normalised_text(learner));
    if (at(learner, "kept_observations") == "bf16") append(text, "observations kept in bf16");
    if (at(learner, "rollout") == "stepwise") append(text, "a launch a step");
    if (const Json constants = at(at(configuration, "env"), "constants"); constants.is_object())
        for (const auto& [name, value] : constants.items()) append(text, name + "=" + plain(value));
    return text;
}

}
