#pragma once
#include "engine/arrays/array.h"
#include <deque>

namespace nacelle {

// The arrays of one environment by name. An array stays where it is until the registry goes.
class Registry final {
public:
    explicit Registry(std::string owner) : owner_(std::move(owner)) {}

    NamedArray& add(NamedArray array);    // throws where the name is taken
    NamedArray* find(const std::string& name);
    NamedArray&
    operator[](const std::string& name);    // throws with the nearest name where there is none
    std::deque<NamedArray>& all() { return arrays_; }
    const std::deque<NamedArray>& all() const { return arrays_; }
    size_t bytes() const;

private:
    std::string owner_;
    std::deque<NamedArray> arrays_;
};

}
