#include "python/binding/buffer_view.h"

#include <cstring>

namespace nacelle::python {
namespace {

[[noreturn]] void say_unknown(const std::string& name) {
    throw nb::type_error(("actions of type " + name +
                          " are not taken: int32 or int64 for choices, float32 or float64 "
                          "for real numbers")
                             .c_str());
}

TakenType whole(size_t bytes, bool is_signed, const std::string& name) {
    switch (bytes) {
        case 1: return is_signed ? TakenType::i8 : TakenType::u8;
        case 2: return is_signed ? TakenType::i16 : TakenType::u16;
        case 4: return is_signed ? TakenType::i32 : TakenType::u32;
        case 8:
            if (is_signed) return TakenType::i64;
    }
    say_unknown(name);
}

}

TakenType taken_type(const std::string& name) {
    if (name == "float32") return TakenType::f32;
    if (name == "float64") return TakenType::f64;
    if (name == "int64") return TakenType::i64;
    if (name == "int32") return TakenType::i32;
    if (name == "int16") return TakenType::i16;
    if (name == "int8") return TakenType::i8;
    if (name == "uint8" || name == "bool") return TakenType::u8;
    if (name == "uint16") return TakenType::u16;
    if (name == "uint32") return TakenType::u32;
    say_unknown(name);
}

BufferView::BufferView(nb::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) != 0)
        throw nb::python_error();
    const std::string format = view_.format ? view_.format : "B";
    const char kind = format.back();
    const auto bytes = size_t(view_.itemsize);
    try {
        if (bytes > 1 && (format[0] == '>' || format[0] == '!'))
            throw nb::type_error(("actions of type '" + format +
                                  "' have their bytes in another machine's order: "
                                  "astype(dtype.newbyteorder('=')) gives this one's")
                                     .c_str());
        if (kind == 'f' && bytes == 4) type_ = TakenType::f32;
        else if (kind == 'd' && bytes == 8) type_ = TakenType::f64;
        else if (std::strchr("bhilqn", kind)) type_ = whole(bytes, true, format);
        else if (std::strchr("?BHILQN", kind)) type_ = whole(bytes, false, format);
        else say_unknown("'" + format + "'");
    } catch (...) {
        PyBuffer_Release(&view_);
        throw;
    }
}

}
