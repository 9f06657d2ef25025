#include <nacelle/math.h>
#include <nacelle/random.h>

#include <cmath>
#include <doctest/doctest.h>
#include <string>

// Our maths against the double precision library of this machine.
using namespace nacelle;

namespace {

constexpr float inf = nacelle::detail::infinity, nan_value = nacelle::detail::not_a_number;
constexpr int samples = 1 << 21;

bool is_nan(float x) { return x != x; }
bool minus(float x) { return std::signbit(x); }

// The distance from the exact value in units of the last place that a float has there. Both beyond the
// floats' range counts as equal.
double ulps(float value, double exact) {
    if (std::isnan(exact)) return is_nan(value) ? 0 : 1e9;
    if (is_nan(value)) return 1e9;
    const float nearest = float(exact);
    if (value == nearest)
        return std::isinf(nearest)
                   ? 0
                   : std::abs(double(value) - exact) /
                         std::ldexp(1.0,
                                    std::max(std::ilogb(exact == 0 ? 1e-45 : exact), -126) - 23);
    if (std::isinf(nearest) != std::isinf(value)) {
        // The largest float and infinity are one unit apart.
        const double largest = std::ldexp(1.0, 128),
                     finite = std::isinf(value) ? exact : double(value);
        return std::abs(std::abs(finite) - largest) / std::ldexp(1.0, 104) + 1;
    }
    return std::abs(double(value) - exact) /
           std::ldexp(1.0, std::max(std::ilogb(exact), -126) - 23);
}

struct Worst {
    double error = 0;
    float x = 0, y = 0;

    void see(double now, float at, float also = 0) {
        if (now <= error) return;
        error = now;
        x = at;
        y = also;
    }
    std::string text(const char* name) const {
        return std::string(name) + ": " + std::to_string(error) + " ulp at " + std::to_string(x) +
               ", " + std::to_string(y);
    }
};

Rng numbers_of(uint32_t row) { return Rng(11, Domain::step, 0, row); }

// Any float at all.
float any_float(Rng& rng) { return __builtin_bit_cast(float, rng.bits()); }

template <class Ours, class Exact>
void check_all_bits(const char* name, double bound, Ours ours, Exact exact) {
    Worst worst;
    Rng rng = numbers_of(1);
    for (int i = 0; i < samples; ++i) {
        const float x = any_float(rng);
        worst.see(ulps(ours(x), exact(double(x))), x);
    }
    MESSAGE(worst.text(name));
    CHECK(worst.error <= bound);
}
template <class Ours, class Exact>
void check_range(const char* name, double bound, float low, float high, Ours ours, Exact exact) {
    Worst worst;
    Rng rng = numbers_of(2);
    for (int i = 0; i < samples; ++i) {
        const float x = rng.uniform(low, high);
        worst.see(ulps(ours(x), exact(double(x))), x);
    }
    MESSAGE(worst.text(name));
    CHECK(worst.error <= bound);
}

float our_sin(float x) { return nacelle::sin(x); }
float our_cos(float x) { return nacelle::cos(x); }
float our_tan(float x) { return nacelle::tan(x); }
float our_exp(float x) { return nacelle::exp(x); }
float our_log(float x) { return nacelle::log(x); }
float our_tanh(float x) { return nacelle::tanh(x); }
float our_sqrt(float x) { return nacelle::sqrt(x); }

double exact_sin(double x) { return std::sin(x); }
double exact_cos(double x) { return std::cos(x); }
double exact_tan(double x) { return std::tan(x); }
double exact_exp(double x) { return std::exp(x); }
double exact_log(double x) { return std::log(x); }
double exact_tanh(double x) { return std::tanh(x); }
double exact_sqrt(double x) { return std::sqrt(x); }

}

TEST_CASE("exp is within 2 ulp for every float") {
    check_all_bits("exp", 2, our_exp, exact_exp);
    check_range("exp from -104 to 89", 2, -104, 89, our_exp, exact_exp);
    CHECK(nacelle::exp(0.0f) == 1.0f);
    CHECK(nacelle::exp(inf) == inf);
    CHECK(nacelle::exp(-inf) == 0.0f);
    CHECK(nacelle::exp(1000.0f) == inf);
    CHECK(nacelle::exp(-1000.0f) == 0.0f);
    CHECK(is_nan(nacelle::exp(nan_value)));
}

TEST_CASE("log is within 2 ulp for every float") {
    check_all_bits("log", 2, our_log, exact_log);
    check_range("log near 1", 2, 0.5f, 2, our_log, exact_log);
    CHECK(nacelle::log(1.0f) == 0.0f);
    CHECK(nacelle::log(0.0f) == -inf);
    CHECK(nacelle::log(-0.0f) == -inf);
    CHECK(nacelle::log(inf) == inf);
    CHECK(is_nan(nacelle::log(-1.0f)));
    CHECK(is_nan(nacelle::log(nan_value)));
}

TEST_CASE("tanh is within 2 ulp for every float") {
    check_all_bits("tanh", 2, our_tanh, exact_tanh);
    check_range("tanh from -10 to 10", 2, -10, 10, our_tanh, exact_tanh);
    CHECK(nacelle::tanh(inf) == 1.0f);
    CHECK(nacelle::tanh(-inf) == -1.0f);
    CHECK(minus(nacelle::tanh(-0.0f)));
    CHECK(is_nan(nacelle::tanh(nan_value)));
}

TEST_CASE("sqrt is exact for every float") {
    check_all_bits("sqrt", 0.5, our_sqrt, exact_sqrt);
    CHECK(is_nan(nacelle::sqrt(-1.0f)));
}

TEST_CASE("sin and cos are within 2 ulp up to 100,000, and tan, their quotient, within 4") {
    check_range("sin from -1.5 to 1.5", 2, -1.5f, 1.5f, our_sin, exact_sin);
    check_range("cos from -1.5 to 1.5", 2, -1.5f, 1.5f, our_cos, exact_cos);
    check_range("tan from -1.5 to 1.5", 4, -1.5f, 1.5f, our_tan, exact_tan);
    check_range("sin from -1e5 to 1e5", 2, -1e5f, 1e5f, our_sin, exact_sin);
    check_range("cos from -1e5 to 1e5", 2, -1e5f, 1e5f, our_cos, exact_cos);
    check_range("tan from -1e5 to 1e5", 4, -1e5f, 1e5f, our_tan, exact_tan);
    CHECK(nacelle::sin(0.0f) == 0.0f);
    CHECK(nacelle::cos(0.0f) == 1.0f);
    CHECK(nacelle::sin(-0.0f) == 0.0f);
    CHECK(is_nan(nacelle::sin(nan_value)));
    CHECK(is_nan(nacelle::cos(inf)));
}

TEST_CASE("atan2 is within 2 ulp for every pair of floats") {
    Worst worst;
    Rng rng = numbers_of(4);
    for (int i = 0; i < samples; ++i) {
        const bool near = i % 2 == 0;
        const float y = near ? rng.uniform(-2, 2) : any_float(rng),
                    x = near ? rng.uniform(-2, 2) : any_float(rng);
        worst.see(ulps(nacelle::atan2(y, x), std::atan2(double(y), double(x))), y, x);
    }
    MESSAGE(worst.text("atan2"));
    CHECK(worst.error <= 2);
    for (const float y : {0.0f, -0.0f, 1.0f, -1.0f, inf, -inf})
        for (const float x : {0.0f, -0.0f, 1.0f, -1.0f, inf, -inf}) {
            CAPTURE(y);
            CAPTURE(x);
            const float ours = nacelle::atan2(y, x), exact = std::atan2(y, x);
            CHECK(std::abs(ours - exact) <= 2.4e-7f);
            CHECK(minus(ours) == minus(exact));
        }
    CHECK(is_nan(nacelle::atan2(nan_value, 1.0f)));
    CHECK(is_nan(nacelle::atan2(1.0f, nan_value)));
}

TEST_CASE("pow is within 2 ulp for every pair of floats") {
    Worst worst;
    Rng rng = numbers_of(5);
    for (int i = 0; i < samples; ++i) {
        const int kind = i % 3;
        const float x = kind == 0   ? any_float(rng)
                        : kind == 1 ? rng.uniform(0, 10)
                                    : rng.uniform(0.9f, 1.1f);
        const float y = kind == 0   ? any_float(rng)
                        : kind == 1 ? rng.uniform(-20, 20)
                                    : rng.uniform(-800, 800);
        worst.see(ulps(nacelle::pow(x, y), std::pow(double(x), double(y))), x, y);
    }
    for (int i = 0; i < samples / 8; ++i) {    // whole exponents, of either sign
        const float x = rng.uniform(-5, 5), y = float(rng.below(40) - 20);
        worst.see(ulps(nacelle::pow(x, y), std::pow(double(x), double(y))), x, y);
    }
    MESSAGE(worst.text("pow"));
    CHECK(worst.error <= 2);
}

TEST_CASE("pow has the special values of the C library") {
    const float special[] = {0.0f,   -0.0f,   1.0f,        -1.0f, 0.5f,  -0.5f,
                             2.0f,   -2.0f,   3.0f,        -3.0f, 1e30f, -1e30f,
                             1e-40f, -1e-40f, 16777217.0f, inf,   -inf,  nan_value};
    for (const float x : special)
        for (const float y : special) {
            CAPTURE(x);
            CAPTURE(y);
            const float ours = nacelle::pow(x, y);
            const double exact = std::pow(double(x), double(y));
            CHECK(ulps(ours, exact) <= 2);
            if (!is_nan(ours)) CHECK(minus(ours) == std::signbit(exact));
        }
}

TEST_CASE("floor and fmod are those of the C library") {
    Rng rng = numbers_of(6);
    int wrong = 0;
    for (int i = 0; i < samples / 4; ++i) {
        const float x = i % 2 ? any_float(rng) : rng.uniform(-100, 100),
                    y = i % 3 ? any_float(rng) : rng.uniform(-5, 5);
        const float floor = nacelle::floor(x), fmod = nacelle::fmod(x, y);
        wrong += !(floor == std::floor(x) || (is_nan(floor) && is_nan(x)));
        wrong += !(fmod == std::fmod(x, y) || (is_nan(fmod) && is_nan(std::fmod(x, y))));
    }
    CHECK(wrong == 0);
    CHECK(minus(nacelle::floor(-0.0f)));
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
