#pragma once
#include "engine/arrays/array.h"
#include <list>

namespace nacelle {

// Whether name, type, shape and role are equal, so that one array can replace the other.
bool same_form(const NamedArray& a, const NamedArray& b);

// The arrays of one environment by name. An array keeps its address until a reload removes it or the registry is
// destroyed.
class Registry final {
public:
    explicit Registry(std::string owner) : owner_(std::move(owner)) {}

    NamedArray& add(NamedArray array);    // throws where the name is taken
    NamedArray* find(const std::string& name);
    NamedArray&
    operator[](const std::string& name);    // throws with the nearest name where there is none
    std::list<NamedArray>& all() { return arrays_; }
    const std::list<NamedArray>& all() const { return arrays_; }
    size_t bytes() const;
    // Swaps the arrays of both registries, except those of the same form and those that plugins made: these stay,
    // with their content. Two calls restore the original state.
    void exchange(Registry& other);

private:
    std::string owner_;
    std::list<NamedArray> arrays_;
};

}
