#pragma once
#include "engine/arrays/array.h"
#include <list>

namespace nacelle {

// Whether one can stand for the other: name, type, shape and role.
bool same_form(const NamedArray& a, const NamedArray& b);

// The arrays of one environment by name. An array stays where it is until a reload takes it away
// or the registry goes.
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
    // Each gets the other's arrays. One that both have in the same form stays where it is, with what is
    // in it, and so do all that plugins have made. Twice changes nothing.
    void exchange(Registry& other);

private:
    std::string owner_;
    std::list<NamedArray> arrays_;
};

}
