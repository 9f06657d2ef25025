#include "engine/arrays/registry.h"

#include "engine/base/error.h"
#include "engine/base/suggest.h"

#include <algorithm>

namespace nacelle {

bool same_form(const NamedArray& a, const NamedArray& b) {
    return a.name() == b.name() && a.dtype() == b.dtype() && a.shape() == b.shape() &&
           a.role() == b.role();
}

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

void Registry::exchange(Registry& other) {
    arrays_.swap(other.arrays_);
    const auto end = other.arrays_.end();
    for (auto at = other.arrays_.begin(); at != end;) {
        const auto mine = at++;
        if (mine->role() == Role::plugin) {
            arrays_.splice(arrays_.end(), other.arrays_, mine);
            continue;
        }
        const auto twin =
            std::find_if(arrays_.begin(), arrays_.end(),
                         [&](const NamedArray& array) { return same_form(array, *mine); });
        if (twin == arrays_.end()) continue;
        arrays_.splice(twin, other.arrays_, mine);
        other.arrays_.splice(at, arrays_, twin);
    }
}

size_t Registry::bytes() const {
    size_t sum = 0;
    for (const NamedArray& array : arrays_) sum += array.bytes();
    return sum;
}

}
