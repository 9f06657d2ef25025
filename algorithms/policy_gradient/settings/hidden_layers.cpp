#include "algorithms/policy_gradient/settings/hidden_layers.h"

#include "algorithms/policy_gradient/settings/json_text.h"

#include <cmath>
#include <learn/formulas/conv.h>

namespace learn {
namespace {

namespace plugin = nacelle::plugin;
using plugin::Config;
using plugin::JsonValue;

constexpr int64_t most_hidden = 16, most_channels = 512, most_size = 64, most_codes = 256;

// A number for both directions, or [rows, columns].
void read_size(ConvolutionSettings& layer, Config& config, const std::string& where) {
    const JsonValue* const size = config.find("size");
    if (!size)
        wrong(where, "is missing: {\"conv\": 16, \"size\": 3}, or \"size\": [rows, columns]");
    std::vector<double> sides;
    if (size->kind == JsonValue::Kind::number) sides = {size->number, size->number};
    if (size->kind == JsonValue::Kind::list && size->list.size() == 2)
        for (const JsonValue& side : size->list)
            sides.push_back(side.kind == JsonValue::Kind::number ? side.number : 0);
    for (const double side : sides)
        if (!(side >= 1 && side <= double(most_size)) || side != std::floor(side)) sides.clear();
    if (sides.size() != 2)
        wrong(where, "expected a whole number from 1 to " + std::to_string(most_size) +
                         ", or two: [rows, columns]");
    layer.rows = int64_t(sides[0]);
    layer.columns = int64_t(sides[1]);
}
ConvolutionSettings read_convolution(const JsonValue& value, const std::string& where) {
    ConvolutionSettings layer;
    Config config(value, where + ".");
    layer.channels = config.integer("conv", 0, 1, most_channels);
    read_size(layer, config, where + ".size");
    layer.stride = config.integer("stride", 1, 1, most_size);
    layer.padding = config.integer("padding", 0, 0, std::min(layer.rows, layer.columns) - 1);
    config.finish();
    return layer;
}
int64_t read_codes(const JsonValue& value, const std::string& where) {
    Config config(value, where + ".");
    const int64_t codes = config.integer("one_hot", 0, 1, most_codes);
    config.finish();
    return codes;
}
constexpr const char* all_layers =
    "(there is: a number of neurons, {\"mingru\": neurons}, {\"gru\": neurons}, {\"conv\": "
    "channels, \"size\": 3}, {\"one_hot\": codes})";
int64_t read_neurons(const JsonValue& value, const std::string& where) {
    if (value.kind != JsonValue::Kind::number) wrong(where, "expected a number of neurons");
    const double width = value.number;
    if (!(width >= 1 && width <= 8192) || width != std::floor(width))
        wrong(where, "a layer has 1 to 8192 neurons, not " + text_of(width));
    return int64_t(width);
}

bool has(const JsonValue& value, const char* key) {
    return value.kind == JsonValue::Kind::object &&
           std::find(value.keys.begin(), value.keys.end(), key) != value.keys.end();
}
// A number is a layer of so many neurons; {"mingru": 64} or {"gru": 64} is one that remembers.
void read_cell(PolicySettings& policy, const JsonValue& layer, const std::string& where,
               const std::string& its) {
    Cell cell = Cell::linear;
    const JsonValue* neurons = &layer;
    if (layer.kind == JsonValue::Kind::object) {
        if (!has(layer, "gru") && !has(layer, "mingru"))
            wrong(its, (layer.keys.size() == 1 ? "there is no layer '" + layer.keys[0] + "' "
                                               : "there is no such layer ") +
                           std::string(all_layers));
        if (layer.keys.size() != 1)
            wrong(its, "a layer that remembers has one setting, its neurons: {\"gru\": 64}");
        cell = layer.keys[0] == "gru" ? Cell::gru : Cell::mingru;
        neurons = &layer.list[0];
    } else if (layer.kind != JsonValue::Kind::number)
        wrong(its, std::string("expected a layer ") + all_layers);
    policy.hidden.push_back(read_neurons(*neurons, where));
    policy.cells.push_back(cell);
}

}

void read_hidden(PolicySettings& policy, const JsonValue& list, const std::string& where) {
    if (list.kind != JsonValue::Kind::list)
        wrong(where, "expected a list of layers, such as [64, 64] or [64, {\"mingru\": 64}]");
    policy.hidden.clear();
    policy.cells.clear();
    policy.convolutions.clear();
    policy.codes = 0;
    for (size_t i = 0; i < list.list.size(); ++i) {
        const JsonValue& layer = list.list[i];
        const std::string its = where + "[" + std::to_string(i) + "]";
        if (has(layer, "conv")) {
            if (!policy.hidden.empty()) wrong(its, "convolutions come before all other layers");
            policy.convolutions.push_back(read_convolution(layer, its));
        } else if (has(layer, "one_hot")) {
            if (i > 0) wrong(its, "\"one_hot\" comes before all other layers");
            policy.codes = read_codes(layer, its);
        } else read_cell(policy, layer, where, its);
    }
    if (policy.hidden.size() > size_t(most_hidden)) wrong(where, "at most 16 hidden layers");
    if (policy.convolutions.size() > size_t(most_convolutions))
        wrong(where, "at most " + std::to_string(most_convolutions) + " convolutions");
    if (policy.codes && policy.convolutions.empty())
        wrong(where, "\"one_hot\" makes channels for a convolution; none follows");
}

std::string hidden_text(const PolicySettings& policy) {
    std::string text;
    const auto add = [&](const std::string& layer) { text += (text.empty() ? "" : ", ") + layer; };
    if (policy.codes) add(JsonText().number("one_hot", double(policy.codes)).done());
    for (const ConvolutionSettings& layer : policy.convolutions) {
        JsonText json;
        json.number("conv", double(layer.channels));
        if (layer.rows == layer.columns) json.number("size", double(layer.rows));
        else json.list("size", {double(layer.rows), double(layer.columns)});
        add(json.number("stride", double(layer.stride))
                .number("padding", double(layer.padding))
                .done());
    }
    for (size_t l = 0; l < policy.hidden.size(); ++l) {
        const double neurons = double(policy.hidden[l]);
        if (policy.cells[l] == Cell::linear) add(std::to_string(policy.hidden[l]));
        else add(JsonText().number(cell_name(policy.cells[l]), neurons).done());
    }
    return "[" + text + "]";
}

}
