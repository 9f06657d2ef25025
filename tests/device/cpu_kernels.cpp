#include <cmath>
#include <cstdint>
#include <stdexcept>

// What the JIT builds for the CPU looks like this from outside.
#define EXPORT extern "C" __attribute__((visibility("default")))

struct CountArgs {
    uint32_t* visits;
};

EXPORT void count_visits(const void* args, uint64_t begin, uint64_t end) {
    auto* visits = static_cast<const CountArgs*>(args)->visits;
    for (uint64_t block = begin; block < end; ++block) ++visits[block];
}

struct ValueArgs {
    float* out;
    float value;
};

EXPORT void write_value(const void* args, uint64_t begin, uint64_t end) {
    const auto& [out, value] = *static_cast<const ValueArgs*>(args);
    for (uint64_t block = begin; block < end; ++block) out[block] = value;
}

struct AlignmentArgs {
    uint64_t* remainder;
};

EXPORT void alignment(const void* args, uint64_t, uint64_t) {
    *static_cast<const AlignmentArgs*>(args)->remainder = reinterpret_cast<uintptr_t>(args) % 16;
}

EXPORT void throw_at_five(const void*, uint64_t begin, uint64_t end) {
    if (begin <= 5 && 5 < end) throw std::out_of_range("no fifth fish");
}

// Results that depend on rounding and on how denormals are treated.
EXPORT void tiny_numbers(const void* args, uint64_t begin, uint64_t end) {
    const auto& [out, value] = *static_cast<const ValueArgs*>(args);
    for (uint64_t block = begin; block < end; ++block) {
        out[block] = value * 1e-20f / static_cast<float>(block + 3);
    }
}

EXPORT int32_t a_number;
int32_t a_number = 7;
