#include "engine/check/step_table.h"

#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/base/suggest.h"

#include <cmath>
#include <sstream>

namespace nacelle {
namespace {

constexpr size_t most_steps = 10000;

std::string in_words(double value) {
    std::ostringstream text;
    text.precision(7);
    text << value;
    return text.str();
}

TableStep read_step(const Json& value, const StepTable& table, size_t number) {
    TableStep step{.name = {},
                   .path = "steps[" + std::to_string(number) + "]",
                   .before = {},
                   .actions = {},
                   .after = {}};
    Config config(value, table.where, step.path);
    step.name = config.text("name", step.path);
    step.before = config.object("before").json();
    step.actions = config.object("actions").json();
    step.after = config.object("after").json();
    config.finish("a step");
    if (step.after.empty()) config.fail("after", "says nothing that could be wrong");
    return step;
}

// Flattens a number or nested lists of numbers in order.
void flatten(const Json& value, std::vector<double>& numbers, const Error& wrong) {
    if (value.is_boolean()) return numbers.push_back(value.get<bool>());
    if (value.is_number()) return numbers.push_back(value.get<double>());
    if (!value.is_array()) throw wrong;
    for (const Json& one : value) flatten(one, numbers, wrong);
}

enum class Part { before, actions, after };

bool may_stand(Part part, Role role) {
    switch (part) {
        case Part::before:
            return role == Role::state || role == Role::agent || role == Role::episode ||
                   role == Role::turn;
        case Part::actions: return role == Role::action;
        case Part::after: break;
    }
    return role != Role::param && role != Role::total && role != Role::bin;
}

// The numbers of one array in one step, with their positions.
class Entry final {
public:
    Entry(Environment& env, const StepTable& table, size_t step, Part part, const std::string& name)
        : env_(env) {
        static const char* const parts[] = {"before", "actions", "after"};
        path_ = table.steps[step].path + "." + parts[int(part)] + "." + name;
        std::vector<std::string> names;
        for (const Field& field : env.schema().fields())
            if (field.slot >= 0 && (field.per == Per::env || field.per == Per::row) &&
                may_stand(part, field.role)) {
                names.emplace_back(field.name);
                if (field.name == name) field_ = &field;
            }
        if (!field_)
            throw Error(table.where,
                        path_ + ": " + env.name() + " has no such array to " +
                            (part == Part::after ? "compare" : "write"),
                        suggest(name, names));
        rows_ = env.schema().rows(*field_, env.count());
        agents_ = rows_ / env.count();
        first_ = step * agents_;
        read(table, part,
             part == Part::before    ? table.steps[step].before[name]
             : part == Part::actions ? table.steps[step].actions[name]
                                     : table.steps[step].after[name]);
    }

    const Field& field() const { return *field_; }
    const std::vector<double>& values() const { return values_; }
    // The position of the k-th number: agent by agent, and within an agent element by element.
    size_t place(size_t k) const {
        const size_t row = first_ + k / field_->count, element = k % field_->count;
        return field_->layout == Layout::columns ? element * rows_ + row
                                                 : row * field_->count + element;
    }
    // "agent.x of agent 2" or "obs[3]"
    std::string words(size_t k) const {
        std::string text = field_->name;
        if (field_->count > 1) text += "[" + std::to_string(k % field_->count) + "]";
        if (agents_ > 1) text += " of agent " + std::to_string(k / field_->count);
        return text;
    }

private:
    void read(const StepTable& table, Part part, const Json& value) {
        flatten(value, values_,
                Error(table.where, path_ + ": expected numbers, true or false", "lists of them"));
        const size_t wanted = agents_ * field_->count;
        if (values_.size() != wanted) {
            std::string what = path_ + ": expected " + std::to_string(wanted) +
                               (wanted == 1 ? " number" : " numbers");
            if (agents_ > 1)
                what += " (" + std::to_string(agents_) + " agents, " +
                        std::to_string(field_->count) + " of each)";
            throw Error(table.where, what + ", found " + std::to_string(values_.size()));
        }
        if (part == Part::after) return;
        for (const double number : values_) require_fit(table, number);
    }
    void require_fit(const StepTable& table, double number) const {
        if (field_->kind == Kind::discrete) {
            if (number == std::trunc(number) && number >= 0 && number < field_->choices) return;
            throw Error(table.where,
                        path_ + ": " + in_words(number) + " is no choice of " + env_.name(),
                        "there are 0 to " + std::to_string(field_->choices - 1));
        }
        uint64_t bytes = 0;
        write_number(field_->dtype, &bytes, number);
        const double kept = read_number(field_->dtype, &bytes);
        const bool exact = field_->dtype != Dtype::f32 && field_->dtype != Dtype::f64;
        if (!exact || kept == number) return;
        throw Error(table.where, path_ + ": " + in_words(number) + " does not fit into " +
                                     dtype_name(field_->dtype));
    }

    Environment& env_;
    std::string path_;
    const Field* field_ = nullptr;
    size_t rows_ = 0, agents_ = 0, first_ = 0;
    std::vector<double> values_;
};

void put(Environment& env, const Entry& entry) {
    NamedArray& array = env.arrays()[entry.field().name];
    const size_t unit = dtype_size(array.dtype());
    std::vector<std::byte> bytes = array.raw();
    for (size_t k = 0; k < entry.values().size(); ++k)
        write_number(array.dtype(), bytes.data() + entry.place(k) * unit, entry.values()[k]);
    array.write_bytes(bytes.data(), array.count());
}

std::string first_wrong(Environment& env, const StepTable& table, size_t step) {
    for (const auto& [name, value] : table.steps[step].after.items()) {
        const Entry entry(env, table, step, Part::after, name);
        const std::vector<double> found = env.arrays()[name].numbers();
        for (size_t k = 0; k < entry.values().size(); ++k) {
            const double is = found[entry.place(k)], wanted = entry.values()[k];
            if (std::abs(is - wanted) <= table.tolerance * std::max(1.0, std::abs(wanted)))
                continue;
            return table.steps[step].name + ": " + entry.words(k) + " is " + in_words(is) +
                   ", expected " + in_words(wanted);
        }
    }
    return {};
}

}

std::filesystem::path step_table_path(const std::filesystem::path& source) {
    return source.parent_path() / (source.stem().string() + ".test.json");
}

StepTable read_step_table(const std::filesystem::path& file) {
    StepTable table;
    table.where = file.filename().string();
    Config config(parse_json(read_plain_file(file), table.where), table.where);
    config.text("about", "");    // for the reader of the file
    table.tolerance = config.number("tolerance", table.tolerance, 0, 1);
    table.params = config.object("params").json();
    Config constants = config.object("constants");
    for (const std::string& name : constants.keys())
        table.constants[name] = constants.any(name).is_boolean()
                                    ? double(constants.flag(name, false))
                                    : constants.number(name, 0);
    const Json steps = config.any("steps", Json::array());
    config.finish("a test table");
    if (!steps.is_array() || steps.empty() || steps.size() > most_steps)
        config.fail("steps", "expected a list of 1 to " + std::to_string(most_steps) + " steps");
    for (size_t i = 0; i < steps.size(); ++i) table.steps.push_back(read_step(steps[i], table, i));
    return table;
}

void put_steps(Environment& env, const StepTable& table) {
    for (size_t step = 0; step < table.steps.size(); ++step) {
        for (const auto& [name, value] : table.steps[step].before.items())
            put(env, Entry(env, table, step, Part::before, name));
        for (const auto& [name, value] : table.steps[step].actions.items())
            put(env, Entry(env, table, step, Part::actions, name));
        // A number that cannot be compared is an error of the table, whatever step() does.
        for (const auto& [name, value] : table.steps[step].after.items())
            Entry(env, table, step, Part::after, name);
    }
}

std::vector<std::string> wrong_steps(Environment& env, const StepTable& table) {
    std::vector<std::string> wrong;
    for (size_t step = 0; step < table.steps.size(); ++step)
        if (std::string one = first_wrong(env, table, step); !one.empty())
            wrong.push_back(std::move(one));
    return wrong;
}

}
