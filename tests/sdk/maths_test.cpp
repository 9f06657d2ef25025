#include "engine/base/files.h"
#include "engine/base/process.h"
#include "tests/env/workbench.h"
#include "tests/support/skip.h"

#include <nacelle/math.h>
#include <nacelle/random.h>
#include <nacelle/spaces.h>

#include <cmath>
#include <doctest/doctest.h>
#include <random>
#include <string>

// Our maths against the long double library of this machine, for fresh numbers in every run.
using namespace nacelle;

namespace {

using Wide = long double;
constexpr float inf = nacelle::detail::infinity, nan_value = nacelle::detail::not_a_number;
constexpr float near_bound = nacelle::detail::near_bound;

bool is_nan(float x) { return x != x; }
bool minus(float x) { return std::signbit(x); }
uint32_t bits(float x) { return __builtin_bit_cast(uint32_t, x); }
float from(uint32_t x) { return __builtin_bit_cast(float, x); }

// The plain build draws as many as find the largest errors.
#ifdef NACELLE_SANITIZE
constexpr int drawn_numbers = 1 << 12;
#else
constexpr int drawn_numbers = 1 << 17;
#endif
constexpr double wrong = 1e9;    // another kind of number altogether

// The distance from the exact value in units of the last place that a float has there. Every NaN
// must have the bits of not_a_number, every zero the sign of the exact one, and the largest
// float and infinity are one unit apart.
double ulps(float value, Wide exact) {
    if (std::isnan(exact)) return bits(value) == bits(nan_value) ? 0 : wrong;
    if (is_nan(value)) return wrong;
    if (exact == 0) return value == 0 && minus(value) == std::signbit(exact) ? 0 : wrong;
    if (std::isinf(exact)) return value == float(exact) ? 0 : wrong;
    if (value != 0 && minus(value) != std::signbit(exact)) return wrong;
    const Wide there =
        std::isinf(value) ? std::copysign(std::ldexp(Wide(1), 128), Wide(value)) : Wide(value);
    if (std::isinf(value) && std::abs(exact) > std::abs(there)) return 0;
    const int exponent = std::clamp(std::ilogb(exact), -126, 127);
    return double(std::abs(there - exact) / std::ldexp(Wide(1), exponent - 23));
}

// The numbers of one test case, others in every run; a failure names the seed.
struct Numbers {
    uint32_t seed = std::random_device{}();
    std::mt19937 engine{seed};

    uint32_t word() { return uint32_t(engine()); }
    float any() { return from(word()); }
    float between(float low, float high) {
        return std::uniform_real_distribution<float>(low, high)(engine);
    }
    // Any sign and mantissa under one exponent: 0 for the subnormal, 255 for infinity and NaN.
    float with_exponent(uint32_t exponent) { return from((word() & 0x807fffffu) | exponent << 23); }
};

const float special[] = {0.0f,
                         -0.0f,
                         1.0f,
                         -1.0f,
                         0.5f,
                         -0.5f,
                         2.0f,
                         -2.0f,
                         3.0f,
                         -3.0f,
                         from(1),
                         from(0x80000001),
                         1e-40f,
                         -1e-40f,
                         1e30f,
                         -1e30f,
                         16777217.0f,
                         from(0x007fffff),
                         inf,
                         -inf,
                         nan_value,
                         -nan_value,
                         from(0x00800000),
                         from(0x7f7fffff),
                         from(0xff7fffff),
                         from(0x7f800001),
                         near_bound,
                         -near_bound};

struct Worst {
    double error = 0;
    float x = 0, y = 0;

    void see(double now, float at, float also = 0) {
        if (now <= error) return;
        error = now;
        x = at;
        y = also;
    }
    std::string text(const char* name, uint32_t seed) const {
        char line[160];
        std::snprintf(line, sizeof line, "%s: %.3f ulp at %a, %a (seed %u)", name, error, double(x),
                      double(y), seed);
        return line;
    }
};

// Any float, each exponent, the special ones, and a range where the function does most.
template <class Ours, class Exact>
void check(const char* name, double bound, float low, float high, Ours ours, Exact exact) {
    Worst worst;
    Numbers numbers;
    const auto see = [&](float x) { worst.see(ulps(ours(x), exact(Wide(x))), x); };
    for (const float x : special) see(x);
    for (uint32_t exponent = 0; exponent < 256; ++exponent)
        for (int i = 0; i < drawn_numbers / 256; ++i) see(numbers.with_exponent(exponent));
    for (int i = 0; i < drawn_numbers; ++i) see(numbers.any());
    for (int i = 0; i < drawn_numbers; ++i) see(numbers.between(low, high));
    const std::string text = worst.text(name, numbers.seed);
    MESSAGE(text);
    CHECK_MESSAGE(worst.error <= bound, text);
}

template <bool full> float our_sin(float x) { return nacelle::detail::sine<full>(x); }
template <bool full> float our_cos(float x) { return nacelle::detail::cosine<full>(x); }
template <bool full> float our_tan(float x) { return nacelle::detail::tangent<full>(x); }

// What a program that is not strict leaves out.
Wide if_near(Wide x, Wide value) { return std::abs(x) <= near_bound ? value : Wide(NAN); }

}

TEST_CASE("an action is a number for min, max and clamp") {
    using namespace nacelle;
    constexpr Continuous<-2, 2> push{1.5f};
    constexpr Discrete<5> gear{3};
    static_assert(clamp(push, 0.0f, 1.0f) == 1.0f && clamp(push, 0, 1) == 1.0f);
    static_assert(min(push, 0.25f) == 0.25f && max(2, push) == 2.0f &&
                  max(push, push).value == 1.5f);
    static_assert(clamp(gear, 0, 2) == 2 && min(gear, 1) == 1 && max(7, gear) == 7);
    CHECK(clamp(push, -1.0f, 3.0f) == 1.5f);
}

TEST_CASE("exp is within 2 ulp for every float") {
    check(
        "exp", 2, -104, 89, [](float x) { return nacelle::exp(x); },
        [](Wide x) { return std::exp(x); });
}

TEST_CASE("log is within 2 ulp for every float") {
    check(
        "log", 2, 0.5f, 2, [](float x) { return nacelle::log(x); },
        [](Wide x) { return std::log(x); });
}

TEST_CASE("tanh is within 2 ulp for every float") {
    check(
        "tanh", 2, -10, 10, [](float x) { return nacelle::tanh(x); },
        [](Wide x) { return std::tanh(x); });
}

TEST_CASE("sqrt is correctly rounded for every float") {
    check(
        "sqrt", 0.5, 0, 100, [](float x) { return nacelle::sqrt(x); },
        [](Wide x) { return std::sqrt(x); });
}

TEST_CASE("floor is exact for every float") {
    check(
        "floor", 0, -100, 100, [](float x) { return nacelle::floor(x); },
        [](Wide x) { return std::floor(x); });
}

TEST_CASE("in a strict program sin, cos and tan are within 2 ulp for every float") {
    check("sin", 2, -100, 100, our_sin<true>, [](Wide x) { return std::sin(x); });
    check("cos", 2, -100, 100, our_cos<true>, [](Wide x) { return std::cos(x); });
    check("tan", 2, -100, 100, our_tan<true>, [](Wide x) { return std::tan(x); });
}

TEST_CASE("in other programs sin, cos and tan are within 2 ulp up to 131,072, and then NaN") {
    static_assert(!nacelle::detail::strict);
    check(
        "sin", 2, -near_bound, near_bound, [](float x) { return nacelle::sin(x); },
        [](Wide x) { return if_near(x, std::sin(x)); });
    check(
        "cos", 2, -near_bound, near_bound, [](float x) { return nacelle::cos(x); },
        [](Wide x) { return if_near(x, std::cos(x)); });
    check(
        "tan", 2, -near_bound, near_bound, [](float x) { return nacelle::tan(x); },
        [](Wide x) { return if_near(x, std::tan(x)); });
}

TEST_CASE("up to 131,072 a strict program and another have the same bits") {
    Numbers numbers;
    CAPTURE(numbers.seed);
    int different = 0;
    for (int i = 0; i < 2 * drawn_numbers; ++i) {
        const float x = i % 2 ? numbers.between(-near_bound, near_bound)
                              : numbers.with_exponent(uint32_t(i) % 144);
        different += bits(our_sin<true>(x)) != bits(our_sin<false>(x));
        different += bits(our_cos<true>(x)) != bits(our_cos<false>(x));
        different += bits(our_tan<true>(x)) != bits(our_tan<false>(x));
    }
    CHECK(different == 0);
}

TEST_CASE("atan2 is within 2 ulp for every pair of floats") {
    Worst worst;
    Numbers numbers;
    const auto see = [&](float y, float x) {
        worst.see(ulps(nacelle::atan2(y, x), std::atan2(Wide(y), Wide(x))), y, x);
    };
    for (const float y : special)
        for (const float x : special) see(y, x);
    for (int i = 0; i < drawn_numbers; ++i) {
        see(numbers.any(), numbers.any());
        see(numbers.between(-2, 2), numbers.between(-2, 2));
        const float x = numbers.any();    // of about the same size
        see(x * numbers.between(-3, 3), x);
    }
    const std::string text = worst.text("atan2", numbers.seed);
    MESSAGE(text);
    CHECK_MESSAGE(worst.error <= 2, text);
}

TEST_CASE("pow is within 2 ulp for every pair of floats") {
    Worst worst;
    Numbers numbers;
    const auto see = [&](float x, float y) {
        worst.see(ulps(nacelle::pow(x, y), std::pow(Wide(x), Wide(y))), x, y);
    };
    for (const float x : special)
        for (const float y : special) see(x, y);
    for (int i = 0; i < drawn_numbers / 2; ++i) {
        see(numbers.any(), numbers.any());
        see(numbers.between(0, 10), numbers.between(-20, 20));
        see(numbers.between(0.9f, 1.1f), numbers.between(-800, 800));
        see(numbers.between(-5, 5), float(int(numbers.word() % 40) - 20));
        // Results of every size, the subnormal ones too.
        const float x = std::abs(numbers.any());
        see(x, numbers.between(-150, 128) / std::log2(x));
    }
    const std::string text = worst.text("pow", numbers.seed);
    MESSAGE(text);
    CHECK_MESSAGE(worst.error <= 2, text);
}

TEST_CASE("fmod is exact for every pair of floats") {
    Numbers numbers;
    CAPTURE(numbers.seed);
    int different = 0;
    const auto see = [&](float x, float y) {
        const float exact = std::fmod(x, y);
        different += bits(nacelle::fmod(x, y)) != bits(is_nan(exact) ? nan_value : exact);
    };
    for (const float x : special)
        for (const float y : special) see(x, y);
    for (int i = 0; i < drawn_numbers; ++i) {
        see(numbers.any(), numbers.any());
        see(numbers.between(-100, 100), numbers.between(-5, 5));
    }
    CHECK(different == 0);
}

// The cast is undefined in C++, and processors differ.
TEST_CASE("no function casts NaN or a huge number to an int") {
    if (find_program("g++").empty()) NACELLE_SKIP("no g++");
    const test::Folder folder;
    const std::string program = (folder.path() / "casts").string();
    const std::string file = folder
                                 .write("casts.cpp", R"(#include <nacelle/math.h>
int main() {
    volatile float sum = 0;
    const float numbers[] = {nacelle::detail::not_a_number, -nacelle::detail::not_a_number,
                             nacelle::detail::infinity, -nacelle::detail::infinity,
                             3.4e38f, -3.4e38f, 1e-45f, -1e-45f, 0.0f, -0.0f, 1.0f, -2.5f};
    for (const float x : numbers) {
        sum = nacelle::sin(x) + nacelle::cos(x) + nacelle::tan(x) + nacelle::sqrt(x) +
              nacelle::exp(x) + nacelle::log(x) + nacelle::tanh(x) + nacelle::floor(x);
        for (const float y : numbers)
            sum = nacelle::pow(x, y) + nacelle::atan2(x, y) + nacelle::fmod(x, y);
    }
}
)")
                                 .string();
    for (const char* const define : {"NONE", "NACELLE_STRICT"}) {
        const ProcessResult built = run_process(
            {"g++", "-std=c++20", "-fsanitize=float-cast-overflow", "-fno-sanitize-recover=all",
             "-D" + std::string(define), "-I" + source_path("sdk"), file, "-o", program});
        REQUIRE_MESSAGE(built.status == 0, built.output);
        const ProcessResult ran = run_process({program});
        CHECK_MESSAGE(ran.status == 0, ran.output);
    }
}

// A call, a branch or a table in a function would cost an environment 16 lanes out of 16.
TEST_CASE("g++ vectorises a loop over each function that steps call most") {
    if (find_program("g++").empty()) NACELLE_SKIP("no g++");
    const char* const text = R"(#include <nacelle/math.h>
void loop(float* __restrict to, const float* __restrict a, const float* __restrict b) {
    NACELLE_VECTOR_LOOP
    for (int i = 0; i < 4096; ++i) to[i] = nacelle::CALL;
}
)";
    const test::Folder folder;
    const std::string file = folder.write("loop.cpp", text).string();
    const auto report = [&](const std::string& call, const std::string& define) {
        return run_process({"g++", "-std=c++20", "-O3", "-march=native", "-ffp-contract=off",
                            "-fno-math-errno", "-fno-trapping-math", "-fopt-info-vec",
                            "-D" + define, "-DCALL=" + call, "-I" + source_path("sdk"), "-c", file,
                            "-o", "/dev/null"});
    };
    for (const char* call : {"sin(a[i])", "cos(a[i])", "tan(a[i])", "atan2(a[i],b[i])",
                             "sqrt(a[i])", "exp(a[i])", "log(a[i])", "tanh(a[i])", "floor(a[i])"})
        for (const char* define : {"NONE", "NACELLE_STRICT"}) {
            const ProcessResult result = report(call, define);
            CAPTURE(call);
            CAPTURE(define);
            CAPTURE(result.output);
            CHECK(result.status == 0);
            CHECK(result.output.find("loop.cpp:4:") != std::string::npos);
            CHECK(result.output.find("loop vectorized") != std::string::npos);
        }
}

TEST_CASE("min, max, clamp, abs, sign, swap and wrap take any number type") {
    CHECK(nacelle::min(2, 3) == 2);
    CHECK(nacelle::max(2.0f, 3.0f) == 3.0f);
    CHECK(nacelle::clamp(5, 0, 3) == 3);
    CHECK(nacelle::clamp(-5.0f, 0.0f, 3.0f) == 0.0f);
    CHECK(nacelle::abs(-4) == 4);
    CHECK(nacelle::abs(-2.5f) == 2.5f);
    CHECK(nacelle::sign(-2.5f) == -1);
    CHECK(nacelle::sign(0) == 0);
    CHECK(nacelle::sign(9u) == 1);
    int a = 1, b = 2;
    nacelle::swap(a, b);
    CHECK((a == 2 && b == 1));
    for (int v = -4; v < 8; ++v) CHECK(nacelle::wrap(v, 4) == (v + 4) % 4);
}
