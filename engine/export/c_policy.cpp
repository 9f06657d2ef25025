#include "engine/export/c_policy.h"

#include "engine/base/text.h"
#include "engine/export/c_text.h"

#include <algorithm>
#include <cctype>

namespace nacelle {
namespace {

std::string counted(size_t count) { return std::to_string(count); }

// The text of a header, in which $name stands for the policy's name and $NAME for that of its constants.
class PolicyHeader final {
public:
    explicit PolicyHeader(const OpenedPolicy& opened)
        : opened_(opened), policy_(*opened.policy), description_(policy_.description()) {}

    std::string text() {
        introduce();
        put_numbers();
        put_functions();
        put_outputs();
        put_act();
        return text_ + "\n#endif\n";
    }

private:
    bool has_masks() const { return description_.choices() > 0; }
    bool remembers_any() const { return description_.memory() > 0; }
    // The parameters that a function has where the policy remembers, and where there are choices.
    std::string memory_parameter() const { return remembers_any() ? "$name_memory *memory, " : ""; }
    void line(const std::string& line) { text_ += line + "\n"; }

    void introduce() {
        line("#ifndef $NAME_H\n#define $NAME_H");
        line("/* The policy '" + c_comment(description_.name) + "' of " +
             c_comment(printable(opened_.environment)) + " at step " + counted(opened_.steps) +
             ", written by Nacelle " NACELLE_VERSION ".");
        line(" *");
        line(" * $name_act() writes the most probable action: a float for each part, the number of "
             "a "
             "choice or a value.");
        line(" * obs is a row of " + counted(description_.inputs()) + " numbers:");
        for (const PolicyDescription::Array& array : description_.observation)
            line(" *     " + c_comment(array.name) + ", " + counted(array.count));
        line(" * and the parts of an action are:");
        for (const PolicyPart& part : description_.actions)
            line(" *     " + c_comment(part.name) + ", " +
                 (part.range.choices
                      ? "one of " + counted(part.range.choices)
                      : "from " + c_float(part.range.low) + " to " + c_float(part.range.high)));
        if (has_masks())
            line(" * masks has a byte for each choice, of which 0 forbids it; null: all are open.");
        if (remembers_any())
            line(" * memory is what it remembers from step to step: $name_forget() begins an "
                 "episode.");
        line(" * A call needs " + counted(stack_floats() * sizeof(float)) +
             " bytes of stack. Nothing is included, linked or allocated. */");
        line("");
        std::string sizes = "enum { $NAME_INPUTS = " + counted(description_.inputs()) +
                            ", $NAME_OUTPUTS = " + counted(description_.outputs()) +
                            ", $NAME_PARTS = " + counted(description_.actions.size());
        if (has_masks()) sizes += ", $NAME_CHOICES = " + counted(description_.choices());
        line(sizes + " };\n");
        if (!remembers_any()) return;
        line("typedef struct $name_memory {\n    float h[" + counted(description_.memory()) +
             "];\n} $name_memory;");
        line("static inline void $name_forget($name_memory *memory) {\n    unsigned long i;\n"
             "    for (i = 0; i < " +
             counted(description_.memory()) + "; ++i) memory->h[i] = 0.0f;\n}\n");
    }

    void put_layer(const std::string& name, const DenseLayer& layer) {
        text_ += c_array("$name_" + name + "_weights",
                         std::span(layer.weights, layer.inputs * layer.outputs));
        text_ += c_array("$name_" + name + "_biases", std::span(layer.biases, layer.outputs));
    }
    void put_numbers() {
        if (!policy_.mean().empty()) {
            text_ += c_array("$name_mean", policy_.mean());
            text_ += c_array("$name_scale", policy_.scale());
        }
        const PolicyEncoder& encoder = description_.encoder;
        if (!encoder.empty()) {
            text_ += c_array("$name_image_places", encoder.places());
            if (!encoder.others.empty()) text_ += c_array("$name_other_places", encoder.others);
        }
        for (size_t i = 0; i < policy_.filters().size(); ++i)
            put_layer("filter" + counted(i), policy_.filters()[i]);
        for (size_t i = 0; i < policy_.layers().size(); ++i)
            put_layer("matrix" + counted(i), policy_.layers()[i]);
        line("");
    }

    bool has_cell(PolicyCell cell) const {
        return std::ranges::find(description_.cells, cell) != description_.cells.end();
    }
    // Whether an activation stands behind anything.
    bool bends() const {
        if (!description_.encoder.empty() || has_cell(PolicyCell::mingru)) return true;
        for (size_t l = 0; l + 2 < description_.sizes.size(); ++l)
            if (!remembers(description_.cell(l))) return true;
        return false;
    }
    void put_functions() {
        text_ += c_tanh();
        if (bends()) text_ += c_bend(description_.activation);
        text_ += c_dense();
        if (!description_.encoder.empty()) text_ += c_convolve();
        if (has_cell(PolicyCell::mingru)) text_ += c_mingru();
        if (has_cell(PolicyCell::gru)) text_ += c_gru();
    }

    // Of the widest level; outputs are another one's memory.
    size_t widest() const {
        const std::vector<size_t>& sizes = description_.sizes;
        size_t most = *std::max_element(sizes.begin(), sizes.end() - 1);
        return description_.encoder.empty() ? most : std::max(most, description_.encoder.widest());
    }
    size_t gates() const {
        size_t most = 0;
        for (size_t l = 0; l < description_.cells.size(); ++l)
            if (remembers(description_.cell(l)))
                most = std::max(most, gates_of(description_.cell(l)) * description_.sizes[l + 1]);
        return most;
    }
    size_t stack_floats() const {
        return 2 * widest() + 2 * gates() + description_.outputs() +
               (description_.encoder.empty() ? 0 : description_.inputs());
    }

    // The observation, normalised, in `to`.
    void put_normalised(const std::string& to) {
        line("    for (i = 0; i < $NAME_INPUTS; ++i) {");
        if (policy_.mean().empty()) line("        " + to + "[i] = obs[i];");
        else {
            const std::string bound = c_float(description_.bound);
            line("        const float x = (obs[i] - $name_mean[i]) * $name_scale[i];");
            line("        " + to + "[i] = x < -" + bound + " ? -" + bound + " : x > " + bound +
                 " ? " + bound + " : x;");
        }
        line("    }");
    }
    std::string image_text(size_t rows, size_t columns, size_t channels) const {
        return "{" + counted(rows) + ", " + counted(columns) + ", " + counted(channels) + "}";
    }
    // From the normalised observation in `seen` to what the first layer sees, in the buffer that is returned.
    std::string put_encoder() {
        const PolicyEncoder& encoder = description_.encoder;
        const std::string places = counted(encoder.places().size());
        line("    for (i = 0; i < " + places + "; ++i)");
        if (encoder.codes) {
            line("        for (j = 0; j < " + counted(encoder.codes) + "; ++j)");
            line("            a[i * " + counted(encoder.codes) +
                 " + j] = obs[$name_image_places[i]] == (float)j ? 1.0f : 0.0f;");
        } else line("        a[i] = seen[$name_image_places[i]];");
        std::string from = "a", to = "b";
        for (size_t l = 0; l < encoder.layers.size(); ++l) {
            const PolicyEncoder::Layer& c = encoder.layers[l];
            const std::string n = counted(l);
            line("    {");
            line("        const $name_image in = " + image_text(c.rows, c.columns, c.channels) +
                 ", out = " + image_text(c.out_rows(), c.out_columns(), c.out) + ";");
            line("        $name_convolve($name_filter" + n + "_weights, $name_filter" + n +
                 "_biases, in, out, " + counted(c.kernel_rows) + ", " + counted(c.kernel_columns) +
                 ", " + counted(c.stride) + ", " + counted(c.padding) + ", " + from + ", " + to +
                 ");");
            line("    }");
            line("    $name_bend(" + to + ", " + counted(c.features()) + ");");
            std::swap(from, to);
        }
        if (!encoder.others.empty())
            line("    for (i = 0; i < " + counted(encoder.others.size()) + "; ++i) " + from + "[" +
                 counted(encoder.layers.back().features()) +
                 " + i] = seen[$name_other_places[i]];");
        return from;
    }
    void put_dense(size_t matrix, const std::string& from, const std::string& to) {
        const DenseLayer& layer = policy_.layers()[matrix];
        const std::string n = counted(matrix);
        line("    $name_dense($name_matrix" + n + "_weights, $name_matrix" + n + "_biases, " +
             counted(layer.inputs) + ", " + counted(layer.outputs) + ", " + from + ", " + to +
             ");");
    }
    void put_cell(PolicyCell cell, size_t matrix, size_t neurons, size_t first,
                  const std::string& from, const std::string& to) {
        const std::string h = "memory->h + " + counted(first);
        put_dense(matrix, from, "gates");
        if (cell == PolicyCell::gru) {
            put_dense(matrix + 1, h, "own");
            line("    $name_gru(gates, own, " + counted(neurons) + ", " + h + ");");
        } else {
            line("    $name_bend(gates + " + counted(neurons) + ", " + counted(neurons) + ");");
            line("    $name_mingru(gates, " + counted(neurons) + ", " + h + ");");
        }
        line("    for (i = 0; i < " + counted(neurons) + "; ++i) " + to + "[i] = (" + h + ")[i];");
    }
    void put_outputs() {
        const PolicyEncoder& encoder = description_.encoder;
        line("\n/* The network's outputs: a score for each choice and a mean for each value, part "
             "by "
             "part" +
             std::string(description_.draws && description_.reals()
                             ? ";\n * then the logarithms of the values' standard deviations. */"
                             : ". */"));
        line("static inline void $name_outputs(const float *obs, " + memory_parameter() +
             "float *outputs) {");
        line("    float a[" + counted(widest()) + "], b[" + counted(widest()) + "];");
        if (!encoder.empty()) line("    float seen[$NAME_INPUTS];");
        if (gates()) line("    float gates[" + counted(gates()) + "];");
        if (has_cell(PolicyCell::gru)) line("    float own[" + counted(gates()) + "];");
        line(encoder.codes ? "    unsigned long i, j;" : "    unsigned long i;");
        put_normalised(encoder.empty() ? "a" : "seen");
        std::string from = encoder.empty() ? "a" : put_encoder(), to = from == "a" ? "b" : "a";
        const size_t layers = description_.sizes.size() - 1;
        for (size_t l = 0, matrix = 0, first = 0; l < layers; ++l) {
            const PolicyCell cell = description_.cell(l);
            const size_t neurons = description_.sizes[l + 1];
            if (l + 1 == layers) {
                put_dense(matrix, from, "outputs");
            } else if (remembers(cell)) {
                put_cell(cell, matrix, neurons, first, from, to);
                first += neurons;
            } else {
                put_dense(matrix, from, to);
                line("    $name_bend(" + to + ", " + counted(neurons) + ");");
            }
            matrix += matrices_of(cell);
            std::swap(from, to);
        }
        if (layers == 1 && encoder.empty()) line("    (void)b;");
        line("}");
    }

    void put_choice(size_t part, size_t choices, size_t first, size_t base) {
        line("    {\n        unsigned long best = 0, i;\n        int found = 0;");
        line("        for (i = 0; i < " + counted(choices) + "; ++i) {");
        line("            if (masks && !masks[" + counted(base) + " + i]) continue;");
        line("            if (found && !(outputs[" + counted(first) + " + i] > outputs[" +
             counted(first) + " + best])) continue;");
        line("            best = i;\n            found = 1;\n        }");
        line("        actions[" + counted(part) + "] = (float)best;\n    }");
    }
    void put_value(size_t part, const ActionRange& range, size_t first) {
        const std::string low = c_float(range.low), high = c_float(range.high);
        line("    {\n        float unit = outputs[" + counted(first) + "], value;");
        if (description_.squash) line("        unit = $name_tanh(unit);");
        else line("        unit = unit < -1.0f ? -1.0f : unit > 1.0f ? 1.0f : unit;");
        line("        value = " + low + " + " + c_float((range.high - range.low) * 0.5f) +
             " * (unit + 1.0f);");
        line("        actions[" + counted(part) + "] = value < " + low + " ? " + low +
             " : value > " + high + " ? " + high + " : value;\n    }");
    }
    void put_act() {
        line("\nstatic inline void $name_act(const float *obs, " +
             std::string(has_masks() ? "const unsigned char *masks, " : "") + memory_parameter() +
             "float *actions) {");
        line("    float outputs[$NAME_OUTPUTS];");
        line(std::string("    $name_outputs(obs, ") + (remembers_any() ? "memory, " : "") +
             "outputs);");
        size_t first = 0, base = 0;
        for (size_t p = 0; p < description_.actions.size(); ++p) {
            const ActionRange& range = description_.actions[p].range;
            if (range.choices) put_choice(p, range.choices, first, base);
            else put_value(p, range, first);
            first += range.choices ? range.choices : 1;
            base += range.choices;
        }
        line("}");
    }

    const OpenedPolicy& opened_;
    const TrainedPolicy& policy_;
    const PolicyDescription& description_;
    std::string text_;
};

}

std::string c_name(const std::string& text) {
    std::string name;
    for (const char letter : text)
        name += std::isalnum(static_cast<unsigned char>(letter)) && uint8_t(letter) < 128 ? letter
                                                                                          : '_';
    if (name.empty() || std::isdigit(static_cast<unsigned char>(name[0]))) name = "policy_" + name;
    return name;
}

std::string c_of(const OpenedPolicy& policy, const std::string& name) {
    std::string upper = name;
    for (char& letter : upper) letter = char(std::toupper(static_cast<unsigned char>(letter)));
    return c_named(PolicyHeader(policy).text(), name, upper);
}

}
