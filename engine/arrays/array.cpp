#include "engine/arrays/array.h"

#include "engine/base/error.h"

namespace nacelle {

NamedArray::NamedArray(std::string name, Dtype dtype, std::vector<int64_t> shape, Role role,
                       uint8_t kept, Buffer memory, Stream& stream)
    : name_(std::move(name)),
      dtype_(dtype),
      shape_(std::move(shape)),
      role_(role),
      kept_(kept),
      count_(1),
      memory_(std::make_shared<const Buffer>(std::move(memory))),
      stream_(&stream) {
    for (const int64_t size : shape_) count_ *= static_cast<size_t>(size);
}

std::string NamedArray::form() const {
    std::string text = std::string(dtype_name(dtype_)) + " [";
    for (size_t i = 0; i < shape_.size(); ++i) text += (i ? ", " : "") + std::to_string(shape_[i]);
    return text + "]";
}

void NamedArray::expect(Dtype asked) const {
    if (asked != dtype_) throw Error(name_, "is " + form() + ", not " + dtype_name(asked));
}

void NamedArray::read(void* target) const {
    if (bytes() == 0) return;
    stream_->to_host(target, device(), bytes());
    stream_->synchronize();
}

void NamedArray::write_bytes(const void* source, size_t count) {
    if (count != count_)
        throw Error(name_, "is " + form() + " and takes " + std::to_string(count_) +
                               " elements, not " + std::to_string(count));
    if (count == 0) return;
    stream_->to_device(device(), source, bytes());
    stream_->synchronize();
}

std::vector<double> NamedArray::numbers() const {
    std::vector<std::byte> raw(bytes());
    read(raw.data());
    std::vector<double> values(count_);
    const size_t size = dtype_size(dtype_);
    for (size_t i = 0; i < count_; ++i) values[i] = read_number(dtype_, raw.data() + i * size);
    return values;
}

template <> std::vector<bool> NamedArray::host<bool>() const {
    expect(Dtype::b8);
    std::vector<unsigned char> raw(count_);
    read(raw.data());
    return {raw.begin(), raw.end()};
}

}
