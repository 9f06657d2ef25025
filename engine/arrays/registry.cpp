#include "engine/arrays/registry.h"

#include "engine/base/error.h"
#include "engine/base/suggest.h"

namespace nacelle {

NamedArray& Registry::add(NamedArray array) {
    if (find(array.name())) throw Error(owner_, "there is an array '" + array.name() + "' already");
    return arrays_.emplace_back(std::move(array));
}

NamedArray* Registry::find(const std::string& name) {
    for (NamedArray& array : arrays_)
        if (array.name() == name) return &array;
    return nullptr;
}

NamedArray& Registry::operator[](const std::string& name) {
    if (NamedArray* const array = find(name)) return *array;
    std::vector<std::string> names;
    for (const NamedArray& array : arrays_) names.push_back(array.name());
    throw Error(owner_, "there is no array '" + name + "'", suggest(name, names));
}

size_t Registry::bytes() const {
    size_t sum = 0;
    for (const NamedArray& array : arrays_) sum += array.bytes();
    return sum;
}

}
