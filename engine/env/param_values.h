#pragma once
#include "engine/compile/schema.h"
#include "engine/config/config.h"

#include <nacelle/view.h>
#include <set>

namespace nacelle {

// One entry of the configuration's params; nested names are joined by dots.
struct ParamEntry {
    std::string name;
    Json value;
};

// Flattens {"joints": {"angle": 3}, "mass": {"uniform": [1, 2]}} to joints.angle and mass. An object whose only key
// is uniform, log_uniform, normal or choice is a distribution.
std::vector<ParamEntry> flatten_params(const Json& params);
bool is_distribution(const Json& value);
// The names whose values are distributions; they decide on the compiled code.
std::set<std::string> varied_params(const std::vector<ParamEntry>& entries);

// Throws with path, reason and alternatives where the form, the bounds or the type are wrong.
Draw read_draw(const Json& value, Dtype dtype, const std::string& where, const std::string& path);

// The author's Params as bytes, and the distributions of the parameters that vary.
class ParamValues final {
public:
    ParamValues(const EnvSchema& schema, std::vector<std::byte> defaults, std::string where);

    // A number, a list for an array (flat, or lists in lists of its shape), or a distribution for a varied one.
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
