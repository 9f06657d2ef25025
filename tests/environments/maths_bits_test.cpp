#include "tests/env/workbench.h"
#include "tests/support/on_gpu.h"
#include "tests/support/skip.h"

#include <algorithm>
#include <bit>
#include <cmath>
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
    struct Obs { float sine, cosine, tangent, root, exponential, logarithm, hyperbolic, angle, power, remainder, whole; };
    static void reset(State& s, const Params&, nacelle::Rng&) { s = {1, 1}; }
    static nacelle::Outcome step(State&, const Action&, const Params&, nacelle::Rng&) { return {}; }
    static Obs observe(const State& s, const Params&) {
        return {nacelle::sin(s.a), nacelle::cos(s.a), nacelle::tan(s.a), nacelle::sqrt(s.a), nacelle::exp(s.b),
            nacelle::log(s.a), nacelle::tanh(s.b), nacelle::atan2(s.a, s.b), nacelle::pow(s.a, s.b), nacelle::fmod(s.a, s.b), nacelle::floor(s.a)};
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

// Any float, each exponent the same number of times, and the numbers that environments have.
std::vector<float> draw(std::mt19937& random, uint32_t count) {
    std::uniform_real_distribution<float> exponent(-12, 3), sign(-1, 1);
    std::vector<float> numbers(count);
    for (uint32_t i = 0; i < count; ++i) {
        const uint32_t word = uint32_t(random());
        const uint32_t bits = i % 3 == 1 ? (word & 0x807fffffu) | (i / 3 % 256) << 23 : word;
        numbers[i] = i % 3 == 2 ? std::copysign(std::pow(10.0f, exponent(random)), sign(random))
                                : std::bit_cast<float>(bits);
    }
    const float special[] = {0.0f, -0.0f,  INFINITY, -INFINITY, NAN,
                             -NAN, 1e-45f, -1e-45f,  131072.0f};
    std::copy(std::begin(special), std::end(special), numbers.begin());
    return numbers;
}

// sm_90 and no device: what a program's options do to its code.
Binary cartpole_for_a_gpu(bool strict, Compiler& compiler) {
    ProgramSource source = stepwise_program(env_folder / "cartpole.cu");
    source.options = gpu_arithmetic(strict);
    if (strict) source.defines.push_back(strict_define);
    Compiled result = compiler.compile(source);
    if (const auto* const wrong = std::get_if<Diagnostics>(&result))
        throw std::runtime_error(wrong->text());
    return std::get<Binary>(std::move(result));
}

}

TEST_CASE("on a GPU, the maths of the SDK gives the bits of a CPU, strict or not" *
          test::on_gpu()) {
    const DeviceChoice choice = open_device("auto");
    if (choice.device->info().backend != Backend::cuda) NACELLE_SKIP(choice.why);
    const Folder folder;
    constexpr uint32_t count = 1u << 18;
    const uint32_t seed = std::random_device{}();
    CAPTURE(seed);
    std::mt19937 random(seed);
    for (const bool strict : {false, true}) {
        CAPTURE(strict);
        const EnvSettings settings = settings_of(
            {{"source", folder.write("maths.cu", maths)}, {"count", count}, {"strict", strict}});
        Environment here(cpu(), settings), there(open("cuda"), settings);
        const std::vector<float> a = draw(random, count);
        std::vector<float> b = draw(random, count);
        std::shuffle(b.begin(), b.end(), random);
        const std::vector<float> on_cpu = observed(here, a, b), on_gpu = observed(there, a, b);
        size_t different = 0;
        for (size_t i = 0; i < on_cpu.size(); ++i) {
            if (std::memcmp(&on_cpu[i], &on_gpu[i], sizeof(float)) == 0) continue;
            if (++different <= 5)
                MESSAGE("column " << i % 11 << " of (" << a[i / 11] << ", " << b[i / 11]
                                  << "): " << on_cpu[i] << " and " << on_gpu[i]);
        }
        CHECK(different == 0);
    }
}

TEST_CASE("strict arithmetic is another program for a GPU, under a key of its own") {
    std::unique_ptr<Compiler> compiler;
    try {
        compiler = open_nvrtc("sm_90", shared_cache());
    } catch (const Error& error) {
        NACELLE_SKIP(error.what());
    }
    const Binary loose = cartpole_for_a_gpu(false, *compiler),
                 strict = cartpole_for_a_gpu(true, *compiler);
    CHECK((loose.image != strict.image));
    CHECK((cartpole_for_a_gpu(false, *compiler).image == loose.image));
    CHECK((cartpole_for_a_gpu(true, *compiler).image == strict.image));
}

TEST_CASE("an environment's strict setting reaches its program") {
    const Folder folder;
    std::string text = maths;
    text.insert(text.find("static void reset"), "static_assert(nacelle::detail::strict);\n    ");
    const std::filesystem::path source = folder.write("strict.cu", text);
    const auto words = [&](bool strict) {
        return complaint([&] {
            Environment(cpu(1),
                        settings_of({{"source", source}, {"count", 1}, {"strict", strict}}));
        });
    };
    CHECK(words(true) == "");
    CHECK(contains(words(false), "strict.cu:"));
}

TEST_CASE("a strict CartPole has the same bits on a GPU and on a CPU after 1,000 steps" *
          test::on_gpu()) {
    const DeviceChoice choice = open_device("auto");
    if (choice.device->info().backend != Backend::cuda) NACELLE_SKIP(choice.why);
    EnvSettings settings = recommended("cartpole", 4096);
    settings.strict = true;
    Environment here(cpu(), settings), there(open("cuda"), settings);
    for (int i = 0; i < 1000; ++i) {
        here.step_at_random();
        there.step_at_random();
    }
    CHECK(first_difference(here, there) == "");
}
