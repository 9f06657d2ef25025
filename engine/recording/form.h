#pragma once
#include "engine/config/config.h"
#include "engine/env/schema.h"

#include <map>
#include <set>

namespace nacelle {

// Beside which step a value stands. A row of a recording is one step: what there was before it, the
// choice, and what came of it. At its end an episode has single values.
enum class Moment : uint8_t { before, step, end };

// An array of a recording: its field as the environment's schema has it, and the part of one environment.
struct RecordedArray {
    Field field{};
    uint32_t rows = 1;        // agents, or 1
    bool by_agent = false;    // whether the rows are a dimension
    Moment moment = Moment::before;

    std::string name() const { return field.name; }
    size_t elements() const { return size_t(rows) * field.count; }
    size_t bytes() const;
    // Of one step: the array's, without the environments.
    std::vector<int64_t> shape() const;
};

// JSON's own conversions cut what does not fit. Throws with the key where it is no whole number from
// least to most.
uint64_t whole_number(const Json& value, const char* key, uint64_t least, uint64_t most);

// Whether a user's word means an array: "obs" means "obs", "obs.image" and "governor.obs".
bool is_meant(std::string_view name, const std::string& word);

// Where a field belongs in a recording; fields that are the engine's own have no place.
std::optional<Moment> moment_of(const Field& field);
// The field as it is recorded.
RecordedArray recorded_array(const EnvSchema& schema, const Field& field, Moment moment);
// All that decides on how an array's bytes are read, in words: two arrays with the same one can stand for
// each other.
std::string recorded_form(const RecordedArray& array);

// What a recording says of itself at its start.
struct RecordingHeader {
    std::string environment, source;             // its name, and that of its file
    std::map<std::string, std::string> files;    // the hash of the author's files by their names
    uint64_t layout = 0;                         // of the schema
    std::map<std::string, double> constants;     // those that were set
    std::set<std::string> varied;                // parameters that are drawn for each episode
    std::vector<RecordedArray> arrays;
    Json about = Json::object();    // who recorded it, and how

    const RecordedArray* find(std::string_view name) const;
};

Json header_json(const RecordingHeader& header);
// The hashes of a version's files by their names, which are relative to the folder of the environment's
// file. Throws where they are not, or lack that file.
std::map<std::string, std::string> read_files(const Json& json, const std::string& source);
// Throws where the JSON is not that of a header: its names must be names, and its sizes within bounds,
// since anybody may have written it.
RecordingHeader read_header(const Json& json, const std::string& where);

}
