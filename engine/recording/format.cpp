#include "engine/recording/format.h"

#include "engine/arrays/dtype.h"
#include "engine/base/error.h"
#include "engine/base/hash.h"
#include "engine/base/text.h"
#include "engine/compile/layout_defines.h"
#include "engine/env/policy_settings.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <span>

namespace nacelle {
namespace {

// Indexed by the enumerators.
constexpr const char* role_names[] = {
    "param", "state",      "agent",     "action", "obs",    "final_obs", "mask",  "reward", "turn",
    "ended", "terminated", "truncated", "log",    "global", "episode",   "total", "plugin", "bin"};
constexpr const char* kind_names[] = {"value", "discrete", "continuous", "array", "table"};
constexpr const char* layout_names[] = {"columns", "rows"};
constexpr const char* moment_names[] = {"before", "step", "end"};

// Numbers of an array in one environment, at one step. Sizes stay within 32 bits.
constexpr uint64_t most_elements = uint64_t(1) << 26;

template <class T>
T chosen(const Json& array, const char* key, std::span<const char* const> names) {
    const std::string name = array.at(key);
    for (size_t i = 0; i < names.size(); ++i)
        if (name == names[i]) return T(i);
    throw Error(key, "is '" + name + "'");
}

Dtype dtype_named(const std::string& name) {
    for (int i = 0; i <= int(Dtype::b8); ++i)
        if (name == dtype_name(Dtype(i))) return Dtype(i);
    throw Error("type", "is '" + name + "'");
}

Json array_json(const RecordedArray& array) {
    const Field& f = array.field;
    Json json = {{"name", f.name},
                 {"role", role_names[size_t(f.role)]},
                 {"kind", kind_names[size_t(f.kind)]},
                 {"type", dtype_name(f.dtype)},
                 {"layout", layout_names[size_t(f.layout)]},
                 {"dims", std::vector<uint32_t>(f.dims, f.dims + f.rank)},
                 {"rows", array.rows},
                 {"by_agent", array.by_agent},
                 {"moment", moment_names[size_t(array.moment)]},
                 {"shape", array.shape()}};
    if (f.kind == Kind::discrete) json["choices"] = f.choices;
    if (f.kind == Kind::continuous) json["bounds"] = {f.low, f.high};
    return json;
}

float bound(const Json& value) {
    const double number = value.get<double>();
    if (!(std::abs(number) <= double(std::numeric_limits<float>::max())))
        throw Error("bounds", "are no finite numbers");
    return float(number);
}

// Reads dims and rows with a bounded product.
void read_size(RecordedArray& array, const Json& json) {
    Field& f = array.field;
    const Json& dims = json.at("dims");
    if (!dims.is_array() || dims.size() > std::size(f.dims)) throw Error("dims", "are too many");
    f.rank = uint32_t(dims.size());
    array.rows = uint32_t(whole_number(json.at("rows"), "rows", 0, most_elements));
    uint64_t elements = array.rows;
    for (size_t i = 0; i < dims.size(); ++i) {
        f.dims[i] = uint32_t(whole_number(dims[i], "dims", 0, most_elements));
        elements *= f.dims[i];
        if (elements == 0 || elements > most_elements) break;
    }
    if (elements == 0 || elements > most_elements) throw Error("dims", "are out of bounds");
    f.count = uint32_t(elements / array.rows);
}

RecordedArray read_array(const Json& json) {
    RecordedArray array;
    Field& f = array.field;
    const std::string name = json.at("name");
    if (!is_dotted_name(name) || name.size() >= sizeof f.name)
        throw Error("name", "'" + name + "' is no name of an array, or too long");
    std::memcpy(f.name, name.c_str(), name.size() + 1);
    f.role = chosen<Role>(json, "role", role_names);
    f.kind = chosen<Kind>(json, "kind", kind_names);
    f.layout = chosen<Layout>(json, "layout", layout_names);
    f.dtype = dtype_named(json.at("type"));
    read_size(array, json);
    array.by_agent = json.at("by_agent");
    if (!array.by_agent && array.rows != 1) throw Error("rows", "are of agents alone");
    f.per = array.by_agent ? Per::row : Per::env;
    array.moment = chosen<Moment>(json, "moment", moment_names);
    // Its rows: one reward for each step.
    if (moment_of(f) != array.moment) throw Error("moment", "is not that of its role");
    if (const auto choices = json.find("choices"); choices != json.end())
        f.choices =
            int32_t(whole_number(*choices, "choices", 0, std::numeric_limits<int32_t>::max()));
    if (const auto bounds = json.find("bounds"); bounds != json.end()) {
        f.low = bound(bounds->at(0));
        f.high = bound(bounds->at(1));
    }
    return array;
}

std::vector<RecordedArray> read_arrays(const Json& json) {
    std::vector<RecordedArray> arrays;
    std::set<std::string> names;
    for (const Json& one : json) {
        arrays.push_back(read_array(one));
        if (!names.insert(arrays.back().name()).second)
            throw Error("arrays", "'" + arrays.back().name() + "' stands there twice");
    }
    if (arrays.empty()) throw Error("arrays", "there is none");
    // Else nothing bounds the number of an episode's steps.
    if (std::all_of(arrays.begin(), arrays.end(),
                    [](const RecordedArray& one) { return one.moment == Moment::end; }))
        throw Error("arrays", "there is none of each step");
    return arrays;
}

// It is searched for in folders and must not lead out of them.
std::string read_source(const Json& json) {
    std::string name = json;
    const bool plain = name.find('/') == name.npos && is_printable_line(name);
    if (!plain || name.size() <= 3 || !name.ends_with(".cu"))
        throw Error("source", "'" + printable(name) + "' is no plain name of a .cu file");
    return name;
}

// It is only shown: the name of a template has more than letters.
std::string read_environment(const Json& json) {
    std::string name = json;
    if (name.empty() || name.size() >= sizeof Header::name || !is_printable_line(name))
        throw Error("environment", "'" + printable(name) + "' is no name");
    return name;
}

// They become code, so they must be names and numbers.
void require_names(const RecordingHeader& header) {
    for (const auto& [name, value] : header.constants)
        if (!is_dotted_name(name)) throw Error("constants", "'" + name + "' is no name");
    for (const std::string& name : header.varied)
        if (!is_dotted_name(name)) throw Error("varied", "'" + name + "' is no name");
}

}

uint64_t whole_number(const Json& value, const char* key, uint64_t least, uint64_t most) {
    const bool below = value.is_number_integer() && !value.is_number_unsigned() && value < 0;
    if (!value.is_number_integer() || below || value.get<uint64_t>() < least ||
        value.get<uint64_t>() > most)
        throw Error(key, "is out of bounds");
    return value.get<uint64_t>();
}

size_t RecordedArray::bytes() const { return elements() * dtype_size(field.dtype); }

std::vector<int64_t> RecordedArray::shape() const {
    std::vector<int64_t> shape(field.dims, field.dims + field.rank);
    if (by_agent) shape.insert(field.layout == Layout::rows ? shape.begin() : shape.end(), rows);
    return shape;
}

bool is_meant(std::string_view name, const std::string& word) {
    return ("." + std::string(name) + ".").find("." + word + ".") != std::string::npos;
}

std::optional<Moment> moment_of(const Field& field) {
    if (field.slot < 0 || (field.per != Per::env && field.per != Per::row)) return std::nullopt;
    const std::string_view name = field.name;
    switch (field.role) {
        case Role::action:
        case Role::reward:
        case Role::ended:
        case Role::terminated:
        case Role::truncated: return Moment::step;
        case Role::final_obs:
        case Role::log: return Moment::end;
        case Role::total:
        case Role::plugin: return std::nullopt;
        // A step increments these; the others belong to an episode.
        case Role::episode:
            return name.ends_with("episode.length") || name.ends_with("episode.return")
                       ? Moment::step
                       : Moment::before;
        default: return Moment::before;
    }
}

RecordedArray recorded_array(const EnvSchema& schema, const Field& field, Moment moment) {
    return {.field = field,
            .rows = uint32_t(schema.rows(field, 1)),
            .by_agent = field.per == Per::row && schema.header().is_team != 0,
            .moment = moment};
}

std::string recorded_form(const RecordedArray& array) {
    const Field& f = array.field;
    std::string text = std::string(role_names[size_t(f.role)]) + ", " + kind_names[size_t(f.kind)] +
                       " " + dtype_name(f.dtype);
    for (uint32_t i = 0; i < f.rank; ++i) text += (i ? ", " : " [") + std::to_string(f.dims[i]);
    if (f.rank) text += "]";
    if (f.kind == Kind::discrete) text += " of " + std::to_string(f.choices) + " choices";
    if (array.by_agent) text += " for each of " + std::to_string(array.rows) + " agents";
    return text + ", " + std::to_string(f.count) + " in " + layout_names[size_t(f.layout)] + ", " +
           moment_names[size_t(array.moment)];
}

const RecordedArray* RecordingHeader::find(std::string_view name) const {
    for (const RecordedArray& array : arrays)
        if (name == array.field.name) return &array;
    return nullptr;
}

Json header_json(const RecordingHeader& header) {
    Json arrays = Json::array();
    for (const RecordedArray& array : header.arrays) arrays.push_back(array_json(array));
    return {{"environment", header.environment},
            {"source", header.source},
            {"files", header.files},
            {"layout", header.layout},
            {"constants", header.constants},
            {"varied", header.varied},
            {"policies", policies_json(header.policies)},
            {"arrays", arrays},
            {"about", header.about}};
}

std::map<std::string, std::string> read_files(const Json& json, const std::string& source) {
    const auto files = json.get<std::map<std::string, std::string>>();
    for (const auto& [name, hash] : files) {
        if (name.empty() || name.starts_with('/') || !is_printable_line(name))
            throw Error("files", "'" + printable(name) + "' is no relative name");
        if (!is_hex(hash, 32)) throw Error("files", "'" + printable(hash) + "' is no hash");
    }
    if (!files.contains(source)) throw Error("files", "they lack " + source + " itself");
    return files;
}

RecordingHeader read_header(const Json& json, const std::string& where) {
    try {
        RecordingHeader header{
            .environment = read_environment(json.at("environment")),
            .source = read_source(json.at("source")),
            .files = {},
            .layout =
                whole_number(json.at("layout"), "layout", 0, std::numeric_limits<uint64_t>::max()),
            .constants = json.at("constants"),
            .varied = json.at("varied"),
            .policies = read_policies(Config(json.value("policies", Json::object()), "policies")),
            .arrays = read_arrays(json.at("arrays")),
            .about = json.at("about")};
        header.files = read_files(json.at("files"), header.source);
        require_names(header);
        return header;
    } catch (const Json::exception&) {
        throw Error(where, "has a header that this engine does not understand: a value is missing, "
                           "or of another type");
    } catch (const std::exception& wrong) {
        throw Error(where, "has a header that this engine does not understand: " +
                               std::string(wrong.what()));
    }
}

}
