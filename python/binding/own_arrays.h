#pragma once
#include <nanobind/nanobind.h>
#include <string>
#include <vector>

namespace nacelle::python {

namespace nb = nanobind;

// Arrays of the caller's own, one for each of a step's outputs, which are filled again when nobody else holds them: who
// holds a view of one holds it, too.
class OwnArrays final {
public:
    explicit OwnArrays(std::vector<nb::object> arrays);

    const std::vector<nb::object>& arrays() const { return arrays_; }
    const std::vector<void*>& places() const { return places_; }
    size_t bytes(size_t array) const { return forms_[array].bytes; }

    // References that exist now are those of nobody else.
    void count_from_now();
    // Whether each still has the form in which it was made: its shape, its type and whether it may be written can be
    // changed in place.
    bool have_form() const;
    // Whether, beside that, nobody else holds one.
    bool are_free() const;

private:
    struct Form {
        size_t bytes = 0;
        std::string type;
        std::vector<Py_ssize_t> shape;
    };
    std::vector<nb::object> arrays_;
    std::vector<void*> places_;
    std::vector<Form> forms_;
    std::vector<Py_ssize_t> holders_;
};

void bind_own_arrays(nb::module_& module);

}
