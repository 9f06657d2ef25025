#pragma once
#include "engine/config/config.h"
#include "engine/env/schema.h"

#include <nacelle/view.h>
#include <set>

namespace nacelle {

// One entry of the configuration's params, its path written with dots.
struct ParamEntry {
    std::string name;
    Json value;
};

// {"joints": {"angle": 3}, "mass": {"uniform": [1, 2]}} as joints.angle and mass. An object whose one key
// is uniform, log_uniform, normal or choice is a distribution.
std::vector<ParamEntry> flatten_params(const Json& params);
bool is_distribution(const Json& value);
// The names whose values are distributions: the JIT bakes in which these are.
std::set<std::string> varied_params(const std::vector<ParamEntry>& entries);

// Throws with path, reason and what there is, where the form, the bounds or the type are wrong.
Draw read_draw(const Json& value, Dtype dtype, const std::string& where, const std::string& path);

// The author's Params as bytes, and the distributions of those that vary.
class ParamValues final {
public:
    ParamValues(const EnvSchema& schema, std::vector<std::byte> defaults, std::string where);

    // A number, a list for an array, or a distribution for a varied one.
    void set(const std::string& name, const Json& value);
    Json get(const std::string& name) const;

    // The field, or an Error with the nearest name.
    const Field& field(const std::string& name) const;
    std::vector<std::byte>& bytes() { return bytes_; }
    const std::vector<Draw>& draws() const { return draws_; }

private:
    size_t first_draw(const Field&) const;

    const EnvSchema* schema_;
    std::vector<std::byte> bytes_;
    std::vector<Draw> draws_;
    std::string where_;
};

}
