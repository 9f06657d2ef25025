#include "python/binding/device_array.h"

#include "python/binding/buffer_view.h"
#include "python/binding/dlpack.h"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nacelle::python {
namespace {

using namespace nb::literals;

// What a capsule keeps alive. In a forked process the device is not there to give the memory back to.
struct Kept {
    std::shared_ptr<EngineUse> use;
    std::shared_ptr<const Buffer> memory;
    std::vector<int64_t> shape, strides;

    static void drop(void* kept) {
        auto* const mine = static_cast<Kept*>(kept);
        if (!mine->use->is_forked()) delete mine;
    }
};

dlpack::DataType type_of(Dtype dtype) {
    const auto bits = uint8_t(8 * dtype_size(dtype));
    switch (dtype) {
        case Dtype::f32:
        case Dtype::f64: return {dlpack::code_float, bits, 1};
        case Dtype::b8: return {dlpack::code_bool, bits, 1};
        case Dtype::i8:
        case Dtype::i16:
        case Dtype::i32:
        case Dtype::i64: return {dlpack::code_int, bits, 1};
        default: return {dlpack::code_uint, bits, 1};
    }
}

// A capsule that nobody has taken drops what it holds.
template <class T> void drop_capsule(PyObject* capsule) {
    if (!PyCapsule_IsValid(capsule, T::name)) return;
    auto* const managed = static_cast<T*>(PyCapsule_GetPointer(capsule, T::name));
    managed->deleter(managed);
}

template <class T> nb::object capsule_of(const dlpack::Tensor& tensor, Kept* kept, bool copied) {
    auto* const managed = new T{};
    managed->tensor = tensor;
    managed->context = kept;
    managed->deleter = [](T* self) {
        Kept::drop(self->context);
        delete self;
    };
    if constexpr (std::is_same_v<T, dlpack::VersionedTensor>) {
        managed->version = {1, 0};
        managed->flags = copied ? T::is_copied : 0;
    }
    PyObject* const capsule = PyCapsule_New(managed, T::name, drop_capsule<T>);
    if (!capsule) {
        managed->deleter(managed);
        throw nb::python_error();
    }
    return nb::steal(capsule);
}

}

void* native_stream(int64_t number) {
    // The protocol's 1 and 2, and a library's 0, are the default streams, as CUDA's own handles have them.
    return reinterpret_cast<void*>(static_cast<uintptr_t>(number));
}

DeviceArray::DeviceArray(std::shared_ptr<EngineUse> use, std::shared_ptr<RunsOn> on,
                         std::shared_ptr<const Buffer> memory, std::string name, Dtype dtype,
                         std::vector<int64_t> shape)
    : use_(std::move(use)),
      on_(std::move(on)),
      memory_(std::move(memory)),
      name_(std::move(name)),
      dtype_(dtype),
      shape_(std::move(shape)) {}

DeviceArray::~DeviceArray() {
    if (!use_->is_forked()) return;
    new auto(std::move(memory_));    // never given back: the child has no device
    new auto(std::move(on_));
}

size_t DeviceArray::bytes() const {
    size_t count = 1;
    for (const int64_t size : shape_) count *= size_t(size);
    return count * dtype_size(dtype_);
}

std::pair<int, int> DeviceArray::dlpack_device() const {
    return {on_->cuda() ? dlpack::cuda : dlpack::cpu, 0};
}

nb::object DeviceArray::dlpack(const nb::object& stream, const nb::object& max_version,
                               const nb::object& device, const nb::object& copy) {
    const Call call(*use_);
    if (!device.is_none() && nb::cast<std::pair<int, int>>(device) != dlpack_device()) {
        PyErr_SetString(PyExc_BufferError,
                        (name_ + " lies in the memory of " + on_->device->info().name +
                         ", and is shared there alone: numpy() copies it to the host")
                            .c_str());
        throw nb::python_error();
    }
    std::shared_ptr<const Buffer> memory = memory_;
    const bool copied = !copy.is_none() && nb::cast<bool>(copy);
    if (copied) {
        memory = std::make_shared<const Buffer>(on_->device, bytes());
        on_->stream->copy(memory->data(), memory_->data(), bytes());
    }
    if (on_->cuda()) {
        // Without a number the protocol means the legacy default stream; -1: whoever takes it orders for himself.
        const int64_t number = stream.is_none() ? 1 : nb::cast<int64_t>(stream);
        if (number == 0 || number < -1)
            throw nb::value_error(
                "__dlpack__: stream is 0, which may stand for two default streams: "
                "1 is the legacy one, 2 that of the thread, -1 asks for no order");
        if (number > 0) on_->stream->make_wait(native_stream(number));
    } else if (!stream.is_none() && nb::cast<int64_t>(stream) != -1)
        throw nb::value_error("__dlpack__: an array of the CPU has no stream: leave stream out");
    auto* const kept = new Kept{use_, std::move(memory), shape_, {}};
    kept->strides.resize(shape_.size());
    int64_t step = 1;
    for (size_t i = shape_.size(); i-- > 0; step *= shape_[i]) kept->strides[i] = step;
    const auto [type, number] = dlpack_device();
    const dlpack::Tensor tensor{.data = kept->memory->data(),
                                .device = {type, number},
                                .dimensions = int32_t(shape_.size()),
                                .type = type_of(dtype_),
                                .shape = kept->shape.data(),
                                .strides = kept->strides.data(),
                                .byte_offset = 0};
    const bool versioned = !max_version.is_none() && nb::cast<int>(max_version[0]) >= 1;
    return versioned ? capsule_of<dlpack::VersionedTensor>(tensor, kept, copied)
                     : capsule_of<dlpack::ManagedTensor>(tensor, kept, copied);
}

void DeviceArray::read_into(nb::handle target) const {
    const Bytes memory(target, Bytes::Use::write);
    if (memory.size() != bytes())
        throw nb::value_error((name_ + ": the target has another size").c_str());
    const Call call(*use_, Call::Length::lengthy);
    on_->stream->to_host(memory.data(), memory_->data(), bytes());
    on_->stream->synchronize();
}

void DeviceArray::write_from(nb::handle source) {
    const Bytes memory(source, Bytes::Use::read);
    if (memory.size() != bytes())
        throw nb::value_error((name_ + ": the source has another size").c_str());
    const Call call(*use_, Call::Length::lengthy);
    on_->stream->to_device(memory_->data(), memory.data(), bytes());
    on_->stream->synchronize();
}

void bind_device_array(nb::module_& module) {
    nb::class_<DeviceArray>(
        module, "Array",
        "An array of an environment in the device's memory, shared by DLPack without a copy.")
        .def_prop_ro("name", &DeviceArray::name)
        .def_prop_ro("shape",
                     [](const DeviceArray& self) { return nb::tuple(nb::cast(self.shape())); })
        .def_prop_ro("dtype", &DeviceArray::dtype, "\"f32\", \"i32\", \"u8\", \"b8\", ...")
        .def_prop_ro("pointer", &DeviceArray::pointer, "The address in the device's memory.")
        .def("__dlpack_device__", &DeviceArray::dlpack_device)
        .def("__dlpack__", &DeviceArray::dlpack, nb::kw_only(), "stream"_a = nb::none(),
             "max_version"_a = nb::none(), "dl_device"_a = nb::none(), "copy"_a = nb::none())
        .def("read_into", &DeviceArray::read_into, "target"_a)
        .def("write_from", &DeviceArray::write_from, "source"_a);
}

}
