#include "algorithms/policy_gradient/settings/schedules.h"

#include "algorithms/policy_gradient/settings/setting_words.h"

namespace learn {
namespace {

using nacelle::plugin::Config;
using nacelle::plugin::JsonValue;

// What a scheduled number may be.
struct DialForm {
    Dial dial;
    const char* name;
    double fallback, low, high;
    bool clipped_only = false, traced_only = false;
};
std::vector<DialForm> dial_forms(const Algorithm& algorithm) {
    return {{learning_rate, "learning_rate", algorithm.learning_rate, 0, 10},
            {clip, "clip", 0.2, 1e-6, 100, true},
            {value_clip, "value_clip", 0, 0, 1e6},
            {value_weight, "value_weight", 0.5, 0, 1e6},
            {entropy_weight, "entropy", algorithm.entropy, -1e3, 1e3},
            {gamma, "gamma", 0.99, 0, 1},
            {lambda, "lambda", 0.95, 0, 1},
            {most_norm, "max_gradient_norm", 0.5, 0, 1e9},
            {target_kl, "target_kl", 0, 0, 1e6},
            {weight_decay, "weight_decay", 0, 0, 1e3},
            {beta1, "beta1", 0.9, 0, 0.999999},
            {beta2, "beta2", 0.999, 0, 0.999999},
            {epsilon, "epsilon", 1e-5, 1e-12, 1},
            {ratio_bound, "ratio_bound", 1, 1e-3, 1e6, false, true},
            {trace_bound, "trace_bound", 1, 1e-3, 1e6, false, true}};
}
bool is_used(const DialForm& form, const Algorithm& algorithm, bool traced) {
    return (!form.clipped_only || algorithm.clips) && (!form.traced_only || traced);
}

double number_in(const JsonValue& value, double low, double high, const std::string& where) {
    if (value.kind != JsonValue::Kind::number)
        wrong(where, "expected a number, or a schedule like {\"linear\": [0.001, 0]}");
    if (!(value.number >= low && value.number <= high))
        wrong(where, "expected a number from " + text_of(low) + " to " + text_of(high));
    return value.number;
}

}

Schedule read_schedule(const JsonValue* value, double low, double high, const std::string& where,
                       const Schedule& fallback) {
    if (!value) return fallback;
    if (value->kind != JsonValue::Kind::object)
        return {Schedule::constant, float(number_in(*value, low, high, where)), 0};
    static const std::vector<std::string> forms = {"linear", "cosine", "exponential"};
    if (value->keys.size() != 1) wrong(where, "a schedule has one key: " + listed(forms));
    const auto found = std::find(forms.begin(), forms.end(), value->keys[0]);
    if (found == forms.end())
        wrong(where,
              "there is no schedule '" + value->keys[0] + "' (there is: " + listed(forms) + ")");
    const JsonValue& ends = value->list[0];
    const std::string there = where + "." + *found;
    if (ends.kind != JsonValue::Kind::list || ends.list.size() != 2)
        wrong(there, "expected two numbers: at the run's begin and at its end");
    const Schedule schedule{int32_t(found - forms.begin()) + Schedule::linear,
                            float(number_in(ends.list[0], low, high, there)),
                            float(number_in(ends.list[1], low, high, there))};
    if (schedule.form == Schedule::exponential && !(schedule.from > 0 && schedule.to > 0))
        wrong(where, "an exponential schedule goes between numbers above zero");
    return schedule;
}
void write_schedule(JsonText& json, const std::string& name, const Schedule& s) {
    static const char* const names[] = {"", "linear", "cosine", "exponential"};
    if (s.form == Schedule::constant) json.number(name, double(s.from));
    else json.begin(name).list(names[s.form], {double(s.from), double(s.to)}).end();
}

void default_dials(const Algorithm& algorithm, Schedules& dials) {
    for (const DialForm& form : dial_forms(algorithm)) dials[form.dial].from = float(form.fallback);
}
void read_dials(Config& config, const std::string& path, const Algorithm& algorithm, bool traced,
                Schedules& dials) {
    for (const DialForm& form : dial_forms(algorithm))
        if (is_used(form, algorithm, traced))
            dials[form.dial] = read_schedule(config.find(form.name), form.low, form.high,
                                             path + form.name, dials[form.dial]);
}
void write_dials(JsonText& json, const Algorithm& algorithm, bool traced, const Schedules& dials) {
    for (const DialForm& form : dial_forms(algorithm))
        if (is_used(form, algorithm, traced)) write_schedule(json, form.name, dials[form.dial]);
}

}
