#include "python/binding/own_arrays.h"

#include <algorithm>

#include <nanobind/stl/vector.h>

namespace nacelle::python {
namespace {

using namespace nb::literals;

constexpr int wanted = PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE | PyBUF_FORMAT;

Py_ssize_t holders_of(const nb::object& array) { return Py_REFCNT(array.ptr()); }

}

OwnArrays::OwnArrays(std::vector<nb::object> arrays) : arrays_(std::move(arrays)) {
    for (const nb::object& array : arrays_) {
        Py_buffer view;
        if (PyObject_GetBuffer(array.ptr(), &view, wanted) != 0) throw nb::python_error();
        places_.push_back(view.buf);
        forms_.push_back({.bytes = size_t(view.len),
                          .type = view.format,
                          .shape = {view.shape, view.shape + view.ndim}});
        PyBuffer_Release(&view);
    }
    count_from_now();
}

void OwnArrays::count_from_now() {
    holders_.clear();
    for (const nb::object& array : arrays_) holders_.push_back(holders_of(array));
}

bool OwnArrays::are_free() const {
    for (size_t i = 0; i < arrays_.size(); ++i)
        if (holders_of(arrays_[i]) != holders_[i]) return false;
    return have_form();
}

bool OwnArrays::have_form() const {
    for (size_t i = 0; i < arrays_.size(); ++i) {
        Py_buffer view;
        if (PyObject_GetBuffer(arrays_[i].ptr(), &view, wanted) != 0) {
            PyErr_Clear();
            return false;
        }
        const Form& form = forms_[i];
        const bool same =
            form.type == view.format && view.buf == places_[i] &&
            std::equal(form.shape.begin(), form.shape.end(), view.shape, view.shape + view.ndim);
        PyBuffer_Release(&view);
        if (!same) return false;
    }
    return true;
}

void bind_own_arrays(nb::module_& module) {
    nb::class_<OwnArrays>(module, "OwnArrays",
                          "Arrays of the caller's own, for what each step leaves.")
        .def(nb::init<std::vector<nb::object>>(), "arrays"_a)
        .def_prop_ro("arrays", &OwnArrays::arrays)
        .def("count_from_now", &OwnArrays::count_from_now)
        .def("have_form", &OwnArrays::have_form)
        .def("are_free", &OwnArrays::are_free);
}

}
