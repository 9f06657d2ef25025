#pragma once
#include "engine/arrays/dtype.h"
#include "engine/device/device.h"
#include <span>
#include <vector>

namespace nacelle {

// How a plugin's array is part of checkpoints: it is the same on all ranks, or each rank has its part.
inline constexpr uint8_t by_all_ranks = 1, by_each_rank = 2, by_each_rank_in_rows = 3;

// A named array in a device's memory. In the layout of columns the last dimension runs over environments or rows,
// else the first one does.
class NamedArray final {
public:
    NamedArray(std::string name, Dtype dtype, std::vector<int64_t> shape, Role role, uint8_t kept,
               Buffer memory, Stream& stream);

    const std::string& name() const { return name_; }
    Dtype dtype() const { return dtype_; }
    const std::vector<int64_t>& shape() const { return shape_; }
    Role role() const { return role_; }
    uint8_t kept() const { return kept_; }
    size_t count() const { return count_; }
    size_t bytes() const { return count_ * dtype_size(dtype_); }
    // "f32 [4, 4096]"
    std::string form() const;

    // The device's memory itself, not a copy.
    void* device() const { return memory_->data(); }
    // Its owner: who holds it may use the memory after a reload has removed the array, or its environment is gone.
    std::shared_ptr<const Buffer> memory() const { return memory_; }
    // A copy. Throws where T is not the array's type.
    template <class T> std::vector<T> host() const {
        expect(dtype_for<T>());
        std::vector<T> copy(count_);
        read(copy.data());
        return copy;
    }
    std::vector<std::byte> raw() const {
        std::vector<std::byte> copy(bytes());
        read(copy.data());
        return copy;
    }
    // The elements of any type as doubles.
    std::vector<double> numbers() const;
    // Replaces all elements. Throws where the type or the count differs.
    template <class T> void write(std::span<const T> values) {
        expect(dtype_for<T>());
        write_bytes(values.data(), values.size());
    }
    void read(void* target) const;
    void write_bytes(const void* source, size_t count);

private:
    void expect(Dtype asked) const;

    std::string name_;
    Dtype dtype_;
    std::vector<int64_t> shape_;
    Role role_;
    uint8_t kept_;
    size_t count_;
    std::shared_ptr<const Buffer> memory_;
    Stream* stream_;
};

template <> std::vector<bool> NamedArray::host<bool>() const;

}
