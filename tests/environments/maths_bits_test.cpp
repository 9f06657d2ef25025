#include "tests/env/workbench.h"
#include "tests/support/skip.h"

#include <cstring>
#include <doctest/doctest.h>
#include <random>

using namespace nacelle;
using namespace nacelle::test;

namespace {

constexpr const char* maths = R"(#include <nacelle/env.h>
struct Maths {
    struct Params { float none = 0; };
    struct State { float a, b; };
    struct Action { nacelle::Discrete<2> none; };
    struct Obs { float sine, cosine, tangent, root, exponential, logarithm, hyperbolic, angle, power, remainder, whole, less; };
    static void reset(State& s, const Params&, nacelle::Rng&) { s = {1, 1}; }
    static nacelle::Outcome step(State&, const Action&, const Params&, nacelle::Rng&) { return {}; }
    static Obs observe(const State& s, const Params&) {
        const float positive = nacelle::abs(s.a);
        return {nacelle::sin(s.a), nacelle::cos(s.a), nacelle::tan(s.a), nacelle::sqrt(positive), nacelle::exp(nacelle::clamp(s.b, -80.0f, 80.0f)),
            nacelle::log(positive), nacelle::tanh(s.b), nacelle::atan2(s.a, s.b), nacelle::pow(positive, nacelle::clamp(s.b, -3.0f, 3.0f)), nacelle::fmod(s.a, s.b), nacelle::floor(s.a), nacelle::min(s.a, s.b)};
    }
};
NACELLE_ENV(Maths)
)";

std::vector<float> observed(Environment& env, const std::vector<float>& a,
                            const std::vector<float>& b) {
    env.arrays()["state.a"].write(std::span<const float>(a));
    env.arrays()["state.b"].write(std::span<const float>(b));
    env.step();
    return env.arrays()["obs"].host<float>();
}

}

TEST_CASE("on a GPU, the maths of the SDK gives the bits of a CPU") {
    const DeviceChoice choice = open_device("auto");
    if (choice.device->info().backend != Backend::cuda) NACELLE_SKIP(choice.why);
    const Folder folder;
    constexpr uint32_t count = 1u << 18;
    const EnvSettings settings =
        settings_of({{"source", folder.write("maths.cu", maths)}, {"count", count}});
    Environment here(cpu(), settings), there(open("cuda"), settings);
    std::mt19937 random(std::random_device{}());
    std::uniform_real_distribution<float> exponent(-12, 3), sign(-1, 1);
    const auto draw = [&] {
        return std::copysign(std::pow(10.0f, exponent(random)), sign(random));
    };
    std::vector<float> a(count), b(count);
    for (uint32_t i = 0; i < count; ++i) {
        a[i] = draw();
        b[i] = draw();
    }
    const std::vector<float> on_cpu = observed(here, a, b), on_gpu = observed(there, a, b);
    size_t different = 0;
    for (size_t i = 0; i < on_cpu.size(); ++i) {
        if (std::memcmp(&on_cpu[i], &on_gpu[i], sizeof(float)) == 0) continue;
        if (++different <= 5)
            MESSAGE("column " << i % 12 << " of (" << a[i / 12] << ", " << b[i / 12]
                              << "): " << on_cpu[i] << " and " << on_gpu[i]);
    }
    CHECK(different == 0);
}
