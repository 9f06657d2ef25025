#pragma once
#include <nacelle/programs/take_actions.h>
#include <nanobind/nanobind.h>
#include <string>

namespace nacelle::python {

namespace nb = nanobind;

// The type by NumPy's name of it; throws where actions may not be of it.
TakenType taken_type(const std::string& name);

// The numbers of an object with the buffer protocol, in one piece of memory.
class BufferView final {
public:
    explicit BufferView(nb::handle object);
    ~BufferView() { PyBuffer_Release(&view_); }
    BufferView(const BufferView&) = delete;
    BufferView& operator=(const BufferView&) = delete;

    const void* data() const { return view_.buf; }
    size_t bytes() const { return size_t(view_.len); }
    uint64_t numbers() const { return uint64_t(view_.len / view_.itemsize); }
    TakenType type() const { return type_; }

private:
    Py_buffer view_{};
    TakenType type_ = TakenType::i32;
};

// The bytes of such an object.
class Bytes final {
public:
    enum class Use { read, write };
    Bytes(nb::handle object, Use use) {
        const int flags = PyBUF_C_CONTIGUOUS | (use == Use::write ? PyBUF_WRITABLE : 0);
        if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) throw nb::python_error();
    }
    ~Bytes() { PyBuffer_Release(&view_); }
    Bytes(const Bytes&) = delete;
    Bytes& operator=(const Bytes&) = delete;

    void* data() const { return view_.buf; }
    size_t size() const { return size_t(view_.len); }

private:
    Py_buffer view_{};
};

}
