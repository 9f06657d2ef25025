#include "engine/env/param_values.h"

#include "engine/arrays/dtype.h"
#include "engine/base/error.h"
#include "engine/base/suggest.h"

#include <algorithm>
#include <cmath>

namespace nacelle {
namespace {

constexpr std::string_view forms[] = {"fixed", "uniform", "log_uniform", "normal", "choice"};

void flatten(const Json& object, const std::string& path, std::vector<ParamEntry>& out) {
    for (const auto& [key, value] : object.items()) {
        const std::string name = path.empty() ? key : path + "." + key;
        if (value.is_object() && !is_distribution(value)) flatten(value, name, out);
        else out.push_back({name, value});
    }
}

double read_value(const Json& value, Dtype dtype, const std::string& where,
                  const std::string& path) {
    const bool real = dtype == Dtype::f32 || dtype == Dtype::f64;
    if (dtype == Dtype::b8 && value.is_boolean()) return value.get<bool>();
    const char* const wanted = dtype == Dtype::b8 ? "true or false"
                               : real             ? "a number"
                                                  : "a whole number";
    if (!value.is_number() || dtype == Dtype::b8)
        throw Error(where, path + ": expected " + wanted + ", found " + json_text(value));
    const double number = value.get<double>();
    if (!real && number != std::floor(number))
        throw Error(where, path + ": expected a whole number, found " + json_text(value));
    const auto [low, high] = dtype_range(dtype);
    const bool lost = dtype == Dtype::f32 && number != 0 && float(number) == 0;
    if (!(number >= low && number <= high) || lost)
        throw Error(where,
                    path + ": " + json_text(value) + " does not fit in " + dtype_name(dtype));
    return number;
}

// The numbers of lists in lists of the parameter's dimensions, each named by its place; false where the shape is another.
bool flatten_lists(const Json& value, const Field& field, uint32_t depth, const std::string& path,
                   std::vector<ParamEntry>& out) {
    if (depth == field.rank) {
        out.push_back({path, value});
        return !value.is_array();
    }
    if (!value.is_array() || value.size() != field.dims[depth]) return false;
    for (size_t i = 0; i < value.size(); ++i)
        if (!flatten_lists(value[i], field, depth + 1, path + "." + std::to_string(i), out))
            return false;
    return true;
}

// "one number"; "a number or 3 of them"; "a number, 6 of them, or 2 lists of 3".
std::string wanted_shape(const Field& field) {
    if (field.rank == 0) return "one number";
    const std::string count = std::to_string(field.count);
    if (field.rank == 1) return "a number or " + count + " of them";
    std::string lists;
    for (uint32_t i = 0; i < field.rank; ++i)
        lists += (i ? " of " : "") + std::to_string(field.dims[i]) +
                 (i + 1 == field.rank  ? ""
                  : field.dims[i] == 1 ? " list"
                                       : " lists");
    return "a number, " + count + " of them, or " + lists;
}

// One number for all elements of a parameter, or one for each.
std::vector<double> read_numbers(const Json& value, const Field& field, const std::string& where,
                                 const std::string& path) {
    if (!value.is_array()) return {read_value(value, field.dtype, where, path)};
    std::vector<ParamEntry> elements;
    if (!flatten_lists(value, field, 0, path, elements)) {
        const bool flat = std::none_of(value.begin(), value.end(),
                                       [](const Json& one) { return one.is_array(); });
        if (field.rank == 0 || !flat || value.size() != field.count)
            throw Error(where,
                        path + ": expected " + wanted_shape(field) + ", found " + json_text(value));
        elements.clear();
        for (size_t i = 0; i < value.size(); ++i)
            elements.push_back({path + "." + std::to_string(i), value[i]});
    }
    std::vector<double> numbers;
    for (const ParamEntry& element : elements)
        numbers.push_back(read_value(element.value, field.dtype, where, element.name));
    return numbers;
}

}

bool is_distribution(const Json& value) {
    if (!value.is_object() || value.size() != 1) return false;
    for (const std::string_view form : forms)
        if (value.begin().key() == form && form != "fixed") return value.begin()->is_array();
    return false;
}

std::vector<ParamEntry> flatten_params(const Json& params) {
    std::vector<ParamEntry> entries;
    flatten(params, "", entries);
    return entries;
}

std::set<std::string> varied_params(const std::vector<ParamEntry>& entries) {
    std::set<std::string> names;
    for (const ParamEntry& entry : entries)
        if (is_distribution(entry.value)) names.insert(entry.name);
    return names;
}

Draw read_draw(const Json& value, Dtype dtype, const std::string& where, const std::string& path) {
    Draw draw{};
    if (!is_distribution(value)) {
        draw.a = static_cast<float>(read_value(value, dtype, where, path));
        return draw;
    }
    const std::string form = value.begin().key();
    const Json& list = *value.begin();
    const auto number = [&](size_t i) {
        return static_cast<float>(read_value(list.at(i), dtype, where, path + "." + form));
    };
    for (int i = 1; i < 5; ++i)
        if (form == forms[i]) draw.form = i;
    if (draw.form == Draw::choice) {
        if (list.empty() || list.size() > std::size(draw.value))
            throw Error(where, path + ".choice: expected 1 to 16 values, found " +
                                   std::to_string(list.size()));
        draw.count = static_cast<int32_t>(list.size());
        for (size_t i = 0; i < list.size(); ++i) draw.value[i] = number(i);
        return draw;
    }
    const char* const pair = draw.form == Draw::normal ? "[mean, deviation]" : "[low, high]";
    if (list.size() != 2)
        throw Error(where, path + "." + form + ": expected " + pair + ", found " + json_text(list));
    draw.a = number(0);
    draw.b = number(1);
    if (draw.form == Draw::normal ? draw.b < 0 : draw.a > draw.b)
        throw Error(where, path + "." + form + ": " +
                               (draw.form == Draw::normal ? "the deviation is negative: "
                                                          : "low is above high: ") +
                               json_text(list));
    if (draw.form == Draw::log_uniform && draw.a <= 0)
        throw Error(where,
                    path + ".log_uniform: both bounds must be above 0, found " + json_text(list));
    return draw;
}

ParamValues::ParamValues(const EnvSchema& schema, std::vector<std::byte> defaults,
                         std::string where)
    : schema_(&schema), bytes_(std::move(defaults)), where_(std::move(where)) {
    size_t count = 0;
    for (const Field* field : schema.params())
        if (field->varied) count += field->count;
    draws_.resize(count);
}

const Field& ParamValues::field(const std::string& name) const {
    if (const Field* const found = schema_->find("param." + name)) return *found;
    throw Error(where_,
                "env.params." + name + ": " + schema_->name() + " has no parameter '" + name + "'",
                suggest(name, schema_->param_names()));
}

size_t ParamValues::first_draw(const Field& wanted) const {
    size_t first = 0;
    for (const Field* field : schema_->params()) {
        if (field == &wanted) break;
        if (field->varied) first += field->count;
    }
    return first;
}

void ParamValues::set(const std::string& name, const Json& value) {
    const Field& target = field(name);
    const std::string path = "env.params." + name;
    if (target.kind == Kind::table)
        throw Error(where_,
                    path +
                        ": is a table; it is loaded from a file or a hook, or filled by prepare()");
    if (is_distribution(value)) {
        if (!target.varied)
            throw Error(where_, path + ": was compiled as one number for all environments",
                        "give it a distribution in env.params when the environment is loaded");
        for (uint32_t i = 0; i < target.count; ++i)
            draws_[first_draw(target) + i] = read_draw(value, target.dtype, where_, path);
        return;
    }
    const std::vector<double> numbers = read_numbers(value, target, where_, path);
    for (uint32_t i = 0; i < target.count; ++i) {
        const double number = numbers[numbers.size() == 1 ? 0 : i];
        write_number(target.dtype, bytes_.data() + offset_of(target, i), number);
        if (target.varied) {
            draws_[first_draw(target) + i] = Draw{};
            draws_[first_draw(target) + i].a = static_cast<float>(number);
        }
    }
}

Json ParamValues::get(const std::string& name) const {
    const Field& source = field(name);
    if (source.kind == Kind::table) return "table";
    const auto describe = [&](uint32_t i) -> Json {
        if (source.varied) {
            const Draw& draw = draws_[first_draw(source) + i];
            const std::string form(forms[draw.form]);
            if (draw.form == Draw::choice)
                return {{form, std::vector<float>(draw.value, draw.value + draw.count)}};
            if (draw.form != Draw::fixed) return {{form, {draw.a, draw.b}}};
        }
        const double number = read_number(source.dtype, bytes_.data() + offset_of(source, i));
        if (source.dtype == Dtype::b8) return number != 0;
        if (source.dtype == Dtype::f32) return static_cast<float>(number);
        if (source.dtype == Dtype::f64) return number;
        return static_cast<int64_t>(number);
    };
    if (source.rank == 0) return describe(0);
    Json list = Json::array();
    for (uint32_t i = 0; i < source.count; ++i) list.push_back(describe(i));
    return list;
}

}
