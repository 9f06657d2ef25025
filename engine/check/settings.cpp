// Checks of what a configuration may set.
#include "engine/base/error.h"
#include "engine/check/checks.h"
#include "engine/jit/author_source.h"

#include <charconv>
#include <cmath>

namespace nacelle {
namespace {

// A narrow range around a default: every environment must accept it, and it shows that draws take effect.
Json narrow_range(const Field& field, double value) {
    if (field.dtype == Dtype::b8) return {{"choice", Json::array({value != 0})}};
    if (field.dtype != Dtype::f32 && field.dtype != Dtype::f64)
        return {{"choice", Json::array({int64_t(value)})}};
    const double spread = value == 0 ? 1e-3 : 0.01 * std::abs(value);
    return {{"uniform", {value, value + spread}}};
}

std::string short_name(const Field& field) {
    return field.name + std::string_view("param.").size();
}

// Sets a parameter to its value and compares the result.
std::string set_and_read(Environment& env, const std::string& name) {
    const Json value = env.param(name);
    env.set_param(name, value);
    const Json now = env.param(name);
    return now == value ? std::string()
                        : name + " was set to " + json_text(value) + " and shows " + json_text(now);
}

// Whether the drawn values of a parameter lie in its range; an error text where they do not.
std::string drawn_wrongly(Environment& env, const Field& field, double low) {
    NamedArray* const drawn = env.arrays().find(field.name);
    if (!drawn) return std::string(field.name) + " has no array of its own";
    const double high = field.dtype == Dtype::f32 || field.dtype == Dtype::f64
                            ? low + (low == 0 ? 1e-3 : 0.01 * std::abs(low))
                            : low;
    const double slack = 1e-6 * std::max(1.0, std::abs(low));
    for (const double value : drawn->numbers())
        if (!(value >= low - slack && value <= high + slack))
            return std::string(field.name) + " was drawn as " + std::to_string(value) +
                   ", outside " + std::to_string(low) + " to " + std::to_string(high);
    return {};
}

}

Finding check_parameters(Session& session) {
    EnvSettings settings = session.settings(session.envs());
    settings.params = Json::object();
    for (const auto& [name, value] : session.subject().settings.params.items())
        if (value.is_string()) settings.params[name] = value;    // a table's file
    std::vector<const Field*> fields;
    for (const Field* field : session.schema().params())
        if (field->kind == Kind::value) fields.push_back(field);
    if (fields.empty()) return skipped("Params has no numbers");

    const auto plain = session.load(Variant::plain(), settings);
    for (const Field* field : fields) {
        const std::string found = set_and_read(*plain, short_name(*field));
        if (!found.empty()) return refused(found, "give the parameter a type that can hold it");
    }
    for (const Field* field : fields)
        settings.params[short_name(*field)] = narrow_range(*field, field->initial);
    const auto varied = session.load(Variant::quick(), settings);
    for (const Field* field : fields) {
        if (field->count != 1) continue;    // the elements of an array have defaults of their own
        const std::string found = drawn_wrongly(*varied, *field, field->initial);
        if (!found.empty()) return refused(found, "report this: the engine draws parameters");
    }
    return passed(std::to_string(fields.size()) +
                  (fields.size() == 1 ? " parameter" : " parameters") +
                  " can be set, and drawn for each environment within a range");
}

Finding check_constants(Session& session) {
    const std::vector<ConstantUse> uses = constants_of(session.subject().settings.source);
    if (uses.empty()) return skipped("the file has no nacelle::constant");
    EnvSettings settings = session.settings(session.envs());
    int set = 0;
    for (const ConstantUse& use : uses) {
        if (settings.constants.contains(use.name)) continue;
        double value = 0;
        std::string text = use.fallback;
        if (text == "true" || text == "false") text = text == "true" ? "1" : "0";
        const auto read = std::from_chars(text.data(), text.data() + text.size(), value);
        const std::string_view behind(read.ptr, text.data() + text.size());
        // An expression, whose value only a compiler knows.
        if (read.ec != std::errc() || (!behind.empty() && behind != "f")) continue;
        settings.constants[use.name] = value;
        ++set;
    }
    const auto env = session.load(Variant::quick(), settings);
    const std::vector<Field>&with = env->schema().fields(), &without = session.schema().fields();
    for (size_t i = 0; i < std::min(with.size(), without.size()); ++i)
        if (std::string_view(with[i].name) != without[i].name || with[i].count != without[i].count)
            return refused("setting every constant to its default changes " +
                               std::string(without[i].name),
                           "use nacelle::constant(\"name\", default) with one default for a name");
    return passed(std::to_string(uses.size()) + (uses.size() == 1 ? " constant" : " constants") +
                  " can be set, " + std::to_string(set) +
                  " to the default here; the arrays stay as they are");
}

}
