#include "engine/policy/read_policy_description.h"

#include "engine/base/error.h"
#include "engine/base/suggest.h"
#include "engine/base/text.h"
#include "engine/compile/layout_defines.h"
#include "engine/config/config.h"

#include <limits>

namespace nacelle {
namespace {

// Bounds within which sums and products of sizes do not overflow.
constexpr int64_t largest_size = 1 << 24;
constexpr int64_t largest_side = 1 << 12;
constexpr int largest_log_deviation = 80;
constexpr size_t most_layers = 64, most_images = 64, most_entries = 1 << 20;

std::vector<Json> list_of(Config& config, const char* key, size_t most) {
    const Json list = config.any(key);
    if (!list.is_array() || list.empty() || list.size() > most)
        config.fail(key, "expected a list of 1 to " + std::to_string(most) + " entries");
    return list.get<std::vector<Json>>();
}
Config entry_of(const Config& config, const char* key, const Json& entry, size_t number) {
    return Config(entry, config.where(),
                  config.path() + "." + key + "[" + std::to_string(number) + "]");
}
// It appears in messages.
std::string name_in(Config& config, const char* key) {
    const std::string name = config.text(key, "");
    if (name.empty() || !is_printable_line(name)) config.fail(key, "expected a plain name");
    return name;
}
float finite_float(Config& config, const char* key) {
    constexpr double most = std::numeric_limits<float>::max();
    if (!config.has(key)) config.fail(key, "is missing");
    return float(config.number(key, 0, -most, most));
}

void read_observation(Config& config, PolicyDescription& description) {
    for (const Json& entry : list_of(config, "observation", most_entries)) {
        Config array = entry_of(config, "observation", entry, description.observation.size());
        const std::string name = name_in(array, "name");
        description.observation.push_back(
            {name, size_t(array.integer("count", 0, 1, largest_size))});
        array.finish("an array");
    }
}

void read_actions(Config& config, PolicyDescription& description) {
    for (const Json& entry : list_of(config, "actions", most_entries)) {
        Config its = entry_of(config, "actions", entry, description.actions.size());
        PolicyPart part{.name = name_in(its, "name"), .range = {}};
        ActionRange& range = part.range;
        if (its.has("choices"))
            range.choices = uint32_t(its.integer("choices", 0, 1, largest_size));
        else {
            range.low = finite_float(its, "low");
            range.high = finite_float(its, "high");
            if (range.low > range.high) its.fail("low", "is more than 'high'");
        }
        its.finish("a part of an action");
        description.actions.push_back(std::move(part));
    }
}

// A convolution on what the one before it makes, or on the images.
PolicyEncoder::Layer read_convolution(const Config& convolutions, const Json& entry,
                                      const PolicyEncoder& encoder, size_t channels) {
    Config its = entry_of(convolutions, "layers", entry, encoder.layers.size());
    PolicyEncoder::Layer layer{};
    const bool first = encoder.layers.empty();
    layer.rows = first ? encoder.rows : encoder.layers.back().out_rows();
    layer.columns = first ? encoder.columns : encoder.layers.back().out_columns();
    layer.channels = first ? channels : encoder.layers.back().out;
    const auto read = [&](const char* key, int64_t least) {
        return size_t(its.integer(key, 0, least, largest_side));
    };
    layer.out = read("channels", 1);
    layer.kernel_rows = read("rows", 1);
    layer.kernel_columns = read("columns", 1);
    layer.stride = read("stride", 1);
    layer.padding = read("padding", 0);
    its.finish("a convolution");
    if (layer.rows + 2 * layer.padding < layer.kernel_rows ||
        layer.columns + 2 * layer.padding < layer.kernel_columns)
        its.fail("rows", "the kernel is larger than its image");
    // Each factor is below 2^13: none of these overflows.
    if (layer.out_rows() * layer.out_columns() * layer.out > size_t(largest_size) ||
        layer.patch() > size_t(largest_size))
        its.fail("channels", "more numbers than " + std::to_string(largest_size));
    return layer;
}
void read_encoder(Config convolutions, PolicyDescription& description) {
    PolicyEncoder& encoder = description.encoder;
    encoder.rows = size_t(convolutions.integer("rows", 0, 1, largest_side));
    encoder.columns = size_t(convolutions.integer("columns", 0, 1, largest_side));
    encoder.codes = size_t(convolutions.integer("one_hot", 0, 0, largest_side));
    size_t channels = 0;
    for (const Json& entry : list_of(convolutions, "images", most_images)) {
        Config image = entry_of(convolutions, "images", entry, encoder.images.size());
        const size_t first = size_t(image.integer("first", 0, 0, largest_size)),
                     its = size_t(image.integer("channels", 0, 1, largest_side));
        encoder.images.push_back({first, its});
        channels += its;
        image.finish("an image");
    }
    channels *= std::max<size_t>(encoder.codes, 1);
    if (channels * encoder.rows * encoder.columns > size_t(largest_size))
        convolutions.fail("images", "more numbers than " + std::to_string(largest_size));
    for (const Json& entry : list_of(convolutions, "layers", most_layers))
        encoder.layers.push_back(read_convolution(convolutions, entry, encoder, channels));
    convolutions.finish("convolutions");
    size_t seen = 0;
    for (const PolicyDescription::Array& array : description.observation) seen += array.count;
    if (seen > size_t(largest_size))
        convolutions.fail("images", "more than " + std::to_string(largest_size) +
                                        " numbers in a row of observations");
    for (size_t at = 0; at < seen; ++at)
        if (std::none_of(encoder.images.begin(), encoder.images.end(),
                         [&](const PolicyEncoder::Image& image) {
                             return at >= image.first && at < image.first + encoder.rows *
                                                                                encoder.columns *
                                                                                image.channels;
                         }))
            encoder.others.push_back(at);
}

// What each hidden layer is.
void read_cells(Config& network, PolicyDescription& description) {
    const std::vector<std::string> names = {"linear", "mingru", "gru"};
    for (const Json& cell : list_of(network, "cells", most_layers)) {
        const auto found = std::find(names.begin(), names.end(), cell);
        if (found == names.end()) network.fail("cells", "expected 'linear', 'mingru' or 'gru'");
        description.cells.push_back(PolicyCell(found - names.begin()));
    }
    const size_t hidden = description.sizes.size() - 2;
    if (description.cells.size() != hidden)
        network.fail("cells", "expected one for each of the " + std::to_string(hidden) +
                                  " layers between the first and the last size");
}

void read_network(Config network, PolicyDescription& description) {
    description.weights = name_in(network, "weights");
    if (network.has("convolutions")) read_encoder(network.object("convolutions"), description);
    for (const Json& size : list_of(network, "sizes", most_layers)) {
        const int64_t neurons = size.is_number_integer() ? size.get<int64_t>() : 0;
        if (neurons < 1 || neurons > largest_size)
            network.fail("sizes",
                         "expected whole numbers from 1 to " + std::to_string(largest_size));
        description.sizes.push_back(size_t(neurons));
    }
    if (description.sizes.size() < 2) network.fail("sizes", "expected at least two");
    if (network.has("cells")) read_cells(network, description);
    const std::vector<std::string> names = {"tanh", "relu", "gelu", "silu"};
    const std::string activation = network.choice("activation", "tanh", names);
    description.activation =
        PolicyActivation(std::find(names.begin(), names.end(), activation) - names.begin());
    description.biases_in_rows =
        network.choice("biases", "behind", {"behind", "in rows"}) == "in rows";
    network.finish("a network");
}

void read_normaliser(Config normaliser, PolicyDescription& description) {
    description.mean = name_in(normaliser, "mean");
    description.scale = name_in(normaliser, "scale");
    description.bound = finite_float(normaliser, "bound");
    if (description.bound <= 0) normaliser.fail("bound", "expected more than 0");
    normaliser.finish("a normaliser");
}

void read_draws(Config& config, PolicyDescription& description) {
    description.draws = config.flag("draws", false);
    description.squash = config.flag("squash", false);
    description.noise_steps = uint64_t(config.integer("noise_steps", 1, 1, int64_t(1) << 53));
    if (!config.has("log_deviation")) {
        if (description.draws && description.reals() > 0)
            config.fail("log_deviation", "is missing");
        return;
    }
    const Json bounds = config.any("log_deviation");
    if (!bounds.is_array() || bounds.size() != 2 || !bounds[0].is_number() ||
        !bounds[1].is_number())
        config.fail("log_deviation", "expected two numbers");
    description.least_log_deviation = bounds[0].get<float>();
    description.most_log_deviation = bounds[1].get<float>();
    // The deviation is the exponential of a number between them, which a float holds from e^-87 to e^88.
    if (!(-largest_log_deviation <= description.least_log_deviation &&
          description.least_log_deviation <= description.most_log_deviation &&
          description.most_log_deviation <= largest_log_deviation))
        config.fail("log_deviation", "expected the least and the most, between " +
                                         std::to_string(-largest_log_deviation) + " and " +
                                         std::to_string(largest_log_deviation));
}

// The parts of a description agree.
void require_whole(const Config& config, const PolicyDescription& description) {
    size_t seen = 0;
    for (const PolicyDescription::Array& array : description.observation) seen += array.count;
    const PolicyEncoder& encoder = description.encoder;
    for (const PolicyEncoder::Image& image : encoder.images)
        if (image.first + encoder.rows * encoder.columns * image.channels > seen)
            config.fail("observation",
                        "has " + std::to_string(seen) + " numbers a row, and an image beyond them");
    const size_t taken = description.sizes.front(), made = encoder.empty() ? seen : encoder.width();
    if (made != taken)
        config.fail("observation",
                    encoder.empty()
                        ? "has " + std::to_string(seen) + " numbers a row; the network takes " +
                              std::to_string(taken)
                        : "becomes " + std::to_string(made) +
                              " numbers behind the convolutions; the network takes " +
                              std::to_string(taken));
    if (description.sizes.back() < description.outputs())
        config.fail("network", "has " + std::to_string(description.sizes.back()) +
                                   " outputs; the actions need " +
                                   std::to_string(description.outputs()));
}

std::string joined_names(const std::vector<std::string>& names) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ", ") + printable(name);
    return text;
}

}

std::vector<std::string> policy_names(const Json& policies) {
    std::vector<std::string> names;
    for (const auto& item : policies.items()) names.push_back(item.key());
    return names;
}

PolicyDescription read_policy_description(const Json& policies, const std::string& name,
                                          const std::string& where) {
    const std::vector<std::string> names = policy_names(policies);
    if (names.empty()) throw Error(where, "has no policy");
    if (name.empty() && names.size() > 1)
        throw Error(where, "has " + std::to_string(names.size()) + " policies, and none was named",
                    "there is: " + joined_names(names));
    const std::string& wanted = name.empty() ? names.front() : name;
    if (!policies.contains(wanted))
        throw Error(where, "has no policy '" + printable(wanted) + "'",
                    "there is: " + joined_names(names));
    if (!is_name(wanted))
        throw Error(where, "'" + printable(wanted) + "' is no name of a policy",
                    "a name has letters, digits and '_'");
    const std::string path = "policies." + wanted;
    Config config(policies[wanted], where, path);
    PolicyDescription description{.name = wanted};
    read_observation(config, description);
    read_actions(config, description);
    if (config.flag("random", false))
        throw Error(where, "the policy '" + printable(wanted) +
                               "' acts at random: it has no network that could be asked");
    read_network(config.object("network"), description);
    if (config.has("normaliser")) read_normaliser(config.object("normaliser"), description);
    read_draws(config, description);
    config.finish("a policy of this version of Nacelle");
    require_whole(config, description);
    return description;
}

}
