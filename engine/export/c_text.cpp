#include "engine/export/c_text.h"

#include <charconv>

namespace nacelle {
namespace {

constexpr size_t numbers_a_line = 8;

template <class Numbers, class Text>
std::string array_text(const char* type, const std::string& name, const Numbers& numbers,
                       Text&& text) {
    std::string array = std::string("static const ") + type + " " + name + "[" +
                        std::to_string(numbers.size()) + "] = {";
    for (size_t i = 0; i < numbers.size(); ++i) {
        array += i % numbers_a_line == 0 ? "\n    " : " ";
        array += text(numbers[i]) + (i + 1 < numbers.size() ? "," : "");
    }
    return array + "\n};\n";
}

}

std::string c_float(float number) {
    char digits[32];
    const std::to_chars_result end = std::to_chars(digits, digits + sizeof digits, number);
    std::string text(digits, end.ptr);
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text + "f";
}
std::string c_array(const std::string& name, std::span<const float> numbers) {
    return array_text("float", name, numbers, c_float);
}
std::string c_array(const std::string& name, const std::vector<size_t>& numbers) {
    return array_text("unsigned long", name, numbers,
                      [](size_t number) { return std::to_string(number); });
}
std::string c_comment(const std::string& text) {
    std::string plain = text;
    for (char& letter : plain)
        if (std::string_view("*/\\?$").find(letter) != std::string_view::npos) letter = '_';
    return plain;
}
std::string c_named(const std::string& text, const std::string& name, const std::string& constant) {
    constexpr std::string_view words[] = {"$name", "$NAME"};
    std::string named;
    for (size_t at = 0; at < text.size();) {
        const std::string_view rest = std::string_view(text).substr(at);
        const bool is_name = rest.starts_with(words[0]), is_constant = rest.starts_with(words[1]);
        if (is_name || is_constant) {
            named += is_name ? name : constant;
            at += words[is_name ? 0 : 1].size();
        } else named += text[at++];
    }
    return named;
}

// As nacelle/math.h computes it, without the bits of floats: beyond 10 it is 1.
std::string c_tanh() {
    return R"(static inline float $name_tanh(float x) {
    const float size = x < 0.0f ? -x : x;
    float far = 1.0f;
    if (x != x) return x;
    if (size < 0.625f) {
        const float z = x * x;
        float p = -0.006096714165902247f;
        p = p * z + 0.0209971789990695f;
        p = p * z - 0.05385090957851203f;
        p = p * z + 0.1333276973697631f;
        p = p * z - 0.33333328944134255f;
        return x * z * p + x;
    }
    if (size < 10.0f) { /* 1 - 2 / (exp(2 size) + 1) */
        const float twice = size + size;
        const int n = (int)(twice * 1.4426950408889634f + 0.5f);
        const float r = twice - (float)n * 0.693115234375f - (float)n * 3.1946184945309415e-05f;
        float p = 0.0001989198131397769f;
        p = p * r + 0.0013934541928270264f;
        p = p * r + 0.008333310024225292f;
        p = p * r + 0.04166645680967788f;
        p = p * r + 0.16666666682534356f;
        p = p * r + 0.5000000014286223f;
        far = 1.0f - 2.0f / ((r * r * p + r + 1.0f) * (float)(1ul << n) + 1.0f);
    }
    return x < 0.0f ? -far : far;
}
)";
}

std::string c_bend(PolicyActivation activation) {
    std::string curve;
    switch (activation) {
        case PolicyActivation::tanh: curve = "$name_tanh(x)"; break;
        case PolicyActivation::relu: curve = "x > 0.0f ? x : 0.0f"; break;
        case PolicyActivation::silu: curve = "x * (0.5f * $name_tanh(0.5f * x) + 0.5f)"; break;
        case PolicyActivation::gelu:
            curve =
                "0.5f * x * (1.0f + $name_tanh(0.7978845608f * x * (1.0f + 0.044715f * x * x)))";
            break;
    }
    return R"(static inline void $name_bend(float *y, unsigned long count) {
    unsigned long i;
    for (i = 0; i < count; ++i) {
        const float x = y[i];
        y[i] = )" +
           curve + R"(;
    }
}
)";
}

std::string c_dense() {
    return R"(/* weights [outputs][inputs] */
static inline void $name_dense(const float *weights, const float *biases, unsigned long inputs,
                              unsigned long outputs, const float *x, float *y) {
    unsigned long o, i;
    for (o = 0; o < outputs; ++o) {
        float sum = biases[o];
        for (i = 0; i < inputs; ++i) sum += weights[o * inputs + i] * x[i];
        y[o] = sum;
    }
}
)";
}

std::string c_convolve() {
    return R"(/* Images are [row][column][channel]; weights [out][row][column][channel]. */
typedef struct $name_image {
    unsigned long rows, columns, channels;
} $name_image;
static inline void $name_convolve(const float *weights, const float *biases, $name_image in,
                                 $name_image out, unsigned long kernel_rows,
                                 unsigned long kernel_columns, unsigned long stride,
                                 unsigned long padding, const float *x, float *y) {
    unsigned long r, c, o, i, j, k;
    for (r = 0; r < out.rows; ++r)
        for (c = 0; c < out.columns; ++c)
            for (o = 0; o < out.channels; ++o) {
                float sum = biases[o];
                for (i = 0; i < kernel_rows; ++i)
                    for (j = 0; j < kernel_columns; ++j) {
                        const unsigned long row = r * stride + i, column = c * stride + j;
                        const float *w =
                            weights + ((o * kernel_rows + i) * kernel_columns + j) * in.channels;
                        const float *at;
                        if (row < padding || row - padding >= in.rows) continue;
                        if (column < padding || column - padding >= in.columns) continue;
                        at = x + ((row - padding) * in.columns + column - padding) * in.channels;
                        for (k = 0; k < in.channels; ++k) sum += w[k] * at[k];
                    }
                y[(r * out.columns + c) * out.channels + o] = sum;
            }
}
)";
}

std::string c_mingru() {
    return R"(/* gates: those of the inputs, $name_bend of the second half */
static inline void $name_mingru(const float *gates, unsigned long neurons, float *h) {
    unsigned long i;
    for (i = 0; i < neurons; ++i) 
        h[i] += (0.5f * $name_tanh(0.5f * gates[i]) + 0.5f) * (gates[neurons + i] - h[i]);
}
)";
}
std::string c_gru() {
    return R"(/* gates: those of the inputs; own: those of what is remembered */
static inline void $name_gru(const float *gates, const float *own, unsigned long neurons, float *h) {
    unsigned long i;
    for (i = 0; i < neurons; ++i) {
        const float r = 0.5f * $name_tanh(0.5f * (gates[i] + own[i])) + 0.5f;
        const float z = 0.5f * $name_tanh(0.5f * (gates[neurons + i] + own[neurons + i])) + 0.5f;
        const float n = $name_tanh(gates[2 * neurons + i] + r * own[2 * neurons + i]);
        h[i] = n + z * (h[i] - n);
    }
}
)";
}

}
