#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <random>

namespace nacelle::test {

// Another one in every run, to be shown with CAPTURE(seed); NACELLE_TEST_SEED repeats a run.
inline uint64_t fresh_seed() {
    if (const char* const given = std::getenv("NACELLE_TEST_SEED"))
        return std::strtoull(given, nullptr, 10);
    std::random_device device;
    return uint64_t(device()) << 32 | device();
}

// Plain random numbers, from another generator than the engine's.
class Dice final {
public:
    explicit Dice(uint64_t seed) : engine_(seed) {}
    int below(int n) { return int(engine_() % uint64_t(n)); }
    uint64_t bits() { return engine_(); }
    size_t index(size_t n) { return size_t(engine_() % n); }
    bool chance(double p) { return double(engine_() >> 11) * 0x1p-53 < p; }
    float uniform(float low, float high) {
        return low + (high - low) * (float(engine_() >> 40) * 0x1p-24f);
    }

private:
    std::mt19937_64 engine_;
};

}
