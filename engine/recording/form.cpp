#include "engine/recording/form.h"

#include "engine/arrays/dtype.h"
#include "engine/base/error.h"

#include <cstring>
#include <span>

namespace nacelle {
namespace {

// By their numbers.
constexpr const char* role_names[] = {
    "param", "state",      "agent",     "action", "obs",    "final_obs", "mask",  "reward", "turn",
    "ended", "terminated", "truncated", "log",    "global", "episode",   "total", "plugin", "bin"};
constexpr const char* kind_names[] = {"value", "discrete", "continuous", "array", "table"};
constexpr const char* layout_names[] = {"columns", "rows"};
constexpr const char* moment_names[] = {"before", "step", "end"};

// A field of a million numbers an environment is beyond all that fits on a machine.
constexpr uint64_t most_elements = uint64_t(1) << 32;

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

RecordedArray read_array(const Json& json) {
    RecordedArray array;
    Field& f = array.field;
    const std::string name = json.at("name");
    if (name.empty() || name.size() >= sizeof f.name) throw Error("name", "is empty or too long");
    std::memcpy(f.name, name.c_str(), name.size() + 1);
    f.role = chosen<Role>(json, "role", role_names);
    f.kind = chosen<Kind>(json, "kind", kind_names);
    f.layout = chosen<Layout>(json, "layout", layout_names);
    f.dtype = dtype_named(json.at("type"));
    const auto dims = json.at("dims").get<std::vector<uint32_t>>();
    if (dims.size() > std::size(f.dims)) throw Error("dims", "are too many");
    f.rank = uint32_t(dims.size());
    array.rows = json.at("rows");
    uint64_t elements = array.rows;
    for (size_t i = 0; i < dims.size(); ++i) {
        f.dims[i] = dims[i];
        if (elements > most_elements) break;
        elements *= dims[i];
    }
    if (elements == 0 || elements > most_elements) throw Error("dims", "are out of bounds");
    f.count = uint32_t(elements / array.rows);
    array.by_agent = json.at("by_agent");
    f.per = array.by_agent ? Per::row : Per::env;
    array.moment = chosen<Moment>(json, "moment", moment_names);
    f.choices = json.value("choices", 0);
    if (const auto bounds = json.find("bounds"); bounds != json.end()) {
        f.low = bounds->at(0);
        f.high = bounds->at(1);
    }
    return array;
}

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
        // A step counts these on; the others are an episode's own.
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
            {"arrays", arrays},
            {"about", header.about}};
}

RecordingHeader read_header(const Json& json, const std::string& where) {
    try {
        RecordingHeader header{.environment = json.at("environment"),
                               .source = json.at("source"),
                               .files = json.at("files"),
                               .layout = json.at("layout"),
                               .constants = json.at("constants"),
                               .varied = json.at("varied"),
                               .about = json.at("about")};
        for (const Json& array : json.at("arrays")) header.arrays.push_back(read_array(array));
        return header;
    } catch (const std::exception& wrong) {
        throw Error(where, "has a header that this engine does not understand: " +
                               std::string(wrong.what()));
    }
}

}
