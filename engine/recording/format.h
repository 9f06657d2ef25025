#pragma once
#include "engine/compile/assigned_policies.h"
#include "engine/config/config.h"

#include <map>
#include <set>

namespace nacelle {

// The time of a value. A row of a recording is one step: the values before it, the action, and the results. At its
// end an episode has single values.
enum class Moment : uint8_t { before, step, end };

// An array of a recording: its field in the environment's schema, and the shape for one environment.
struct RecordedArray {
    Field field{};
    uint32_t rows = 1;        // agents, or 1
    bool by_agent = false;    // whether the rows are a dimension
    Moment moment = Moment::before;

    std::string name() const { return field.name; }
    size_t elements() const { return size_t(rows) * field.count; }
    size_t bytes() const;
    // The shape of one step, without the dimension of environments.
    std::vector<int64_t> shape() const;
};

// Throws with the key where the value is not a whole number from `least` to `most`: the conversions of the JSON
// library truncate.
uint64_t whole_number(const Json& value, const char* key, uint64_t least, uint64_t most);

// Whether the name that a user gave selects an array: "obs" selects "obs", "obs.image" and "governor.obs".
bool is_meant(std::string_view name, const std::string& word);

// The time of a field in a recording; the engine's own fields are not recorded.
std::optional<Moment> moment_of(const Field& field);
// The field as it is recorded.
RecordedArray recorded_array(const EnvSchema& schema, const Field& field, Moment moment);
// The description that decides how an array's bytes are read: arrays of equal description are interchangeable.
std::string recorded_form(const RecordedArray& array);

// The header of a recording.
struct RecordingHeader {
    std::string environment, source;             // its name, and that of its file
    std::map<std::string, std::string> files;    // the hash of the author's files by their names
    uint64_t layout = 0;                         // of the schema
    std::map<std::string, double> constants;     // those that were set
    std::set<std::string> varied;                // parameters that are drawn for each episode
    AssignedPolicies policies;                   // that agents were given
    std::vector<RecordedArray> arrays;
    Json about = Json::object();    // who recorded it, and how

    const RecordedArray* find(std::string_view name) const;
};

Json header_json(const RecordingHeader& header);
// The hashes of a version's files by their names relative to the folder of the environment's file. Throws where names
// are not relative, or that file is missing.
std::map<std::string, std::string> read_files(const Json& json, const std::string& source);
// Throws where the JSON is not a valid header: the file is untrusted, so names and sizes are checked.
RecordingHeader read_header(const Json& json, const std::string& where);

}
