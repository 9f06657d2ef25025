#include "engine/check/compare.h"

#include <cmath>
#include <cstring>
#include <sstream>

namespace nacelle {
namespace {

// How the elements of an array lie in memory, and which environment each belongs to.
struct ArrayLayout {
    ArrayLayout(const Environment& env, const Field& field)
        : rows(env.schema().rows(field, env.count())),
          each(field.per == Per::env || field.per == Per::row ? rows / env.count() : 0),
          width(field.count),
          unit(dtype_size(field.dtype)),
          columns(field.layout == Layout::columns) {}

    size_t rows, each, width, unit;    // each: rows of one environment; 0 where they share rows
    bool columns;
};

std::string place(const Field& field, const ArrayLayout& layout, size_t row, size_t element) {
    std::string text = field.name;
    if (layout.width > 1) text += "[" + std::to_string(element) + "]";
    if (layout.each == 0) return text;
    text += " of environment " + std::to_string(row / layout.each);
    if (layout.each > 1) text += ", agent " + std::to_string(row % layout.each);
    return text;
}

std::string pair_text(Dtype dtype, const std::byte* a, const std::byte* b) {
    std::ostringstream text;
    text.precision(dtype == Dtype::f64 ? 17 : 9);
    text << read_number(dtype, a) << " and " << read_number(dtype, b);
    return text.str();
}

// The index of the first element that differs between two ranges of bytes, or npos.
size_t first_apart(const std::byte* a, const std::byte* b, size_t bytes, size_t unit) {
    if (std::memcmp(a, b, bytes) == 0) return std::string::npos;
    for (size_t at = 0; at < bytes; at += unit)
        if (std::memcmp(a + at, b + at, unit) != 0) return at / unit;
    return std::string::npos;
}

std::string array_difference(Environment& a, Environment& b, const Field& field,
                             const EnvRange& range) {
    const ArrayLayout in_a(a, field), in_b(b, field);
    const std::vector<std::byte> left = a.arrays()[field.name].raw(),
                                 right = b.arrays()[field.name].raw();
    const size_t from = range.first * in_a.each, other = range.other_first * in_b.each;
    const size_t rows = in_a.each ? range.count * in_a.each : in_a.rows;
    // Columns are one range for each element, rows a single range.
    const size_t pieces = in_a.columns ? in_a.width : 1, wide = in_a.columns ? 1 : in_a.width;
    for (size_t piece = 0; piece < pieces; ++piece) {
        const std::byte* const at = left.data() + (piece * in_a.rows + from) * wide * in_a.unit;
        const std::byte* const there =
            right.data() + (piece * in_b.rows + other) * wide * in_b.unit;
        const size_t found = first_apart(at, there, rows * wide * in_a.unit, in_a.unit);
        if (found == std::string::npos) continue;
        const size_t row = from + found / wide, element = in_a.columns ? piece : found % wide;
        return place(field, in_a, row, element) + ": " +
               pair_text(field.dtype, at + found * in_a.unit, there + found * in_a.unit);
    }
    return {};
}

}

std::string difference(Environment& a, Environment& b, const EnvRange& range,
                       const std::function<bool(const Field&)>& wanted) {
    const bool whole = range.count == a.count() && range.count == b.count();
    for (const Field& field : a.schema().fields()) {
        if (field.slot < 0 || (wanted && !wanted(field))) continue;
        if (!whole && (field.role == Role::total || field.per == Per::group)) continue;
        const std::string found = array_difference(a, b, field, range);
        if (!found.empty()) return found;
    }
    return {};
}

std::string difference(Environment& a, Environment& b,
                       const std::function<bool(const Field&)>& wanted) {
    return difference(a, b, {0, 0, a.count()}, wanted);
}

Mismatches count_mismatches(Environment& a, Environment& b, double tolerance) {
    Mismatches found;
    for (const Field& field : a.schema().fields()) {
        if (field.slot < 0 || field.role == Role::total) continue;
        const ArrayLayout layout(a, field);
        const std::vector<std::byte> left = a.arrays()[field.name].raw(),
                                     right = b.arrays()[field.name].raw();
        for (size_t i = 0; i < left.size() / layout.unit; ++i) {
            const std::byte* const x = left.data() + i * layout.unit;
            const std::byte* const y = right.data() + i * layout.unit;
            ++found.elements;
            if (std::memcmp(x, y, layout.unit) == 0) continue;
            const double u = read_number(field.dtype, x), v = read_number(field.dtype, y);
            if (std::abs(u - v) <= tolerance * std::max({1.0, std::abs(u), std::abs(v)})) continue;
            if (found.apart++ == 0)
                found.first =
                    place(field, layout, layout.columns ? i % layout.rows : i / layout.width,
                          layout.columns ? i / layout.rows : i % layout.width) +
                    ": " + pair_text(field.dtype, x, y);
        }
    }
    return found;
}

std::string unwritten(Environment& zeroes, Environment& ones, Role role) {
    for (const Field& field : zeroes.schema().fields()) {
        if (field.slot < 0 || field.role != role) continue;
        const ArrayLayout layout(zeroes, field);
        const std::vector<double> low = zeroes.arrays()[field.name].numbers(),
                                  high = ones.arrays()[field.name].numbers();
        for (size_t i = 0; i < low.size(); ++i)
            if (low[i] == 0 && high[i] == 1)
                return place(field, layout, layout.columns ? i % layout.rows : i / layout.width,
                             layout.columns ? i / layout.rows : i % layout.width);
    }
    return {};
}

void fill_role(Environment& env, Role role, double value) {
    for (const Field& field : env.schema().fields()) {
        if (field.slot < 0 || field.role != role) continue;
        NamedArray& array = env.arrays()[field.name];
        const size_t unit = dtype_size(field.dtype);
        std::vector<std::byte> bytes(array.bytes());
        for (size_t i = 0; i < array.count(); ++i)
            write_number(field.dtype, bytes.data() + i * unit, value);
        array.write_bytes(bytes.data(), array.count());
    }
}

void copy_array(Environment& from, Environment& to, const std::string& name) {
    NamedArray& source = from.arrays()[name];
    to.arrays()[name].write_bytes(source.raw().data(), source.count());
}

void copy_states(Environment& from, Environment& to) {
    for (const Field& field : from.schema().fields()) {
        const bool counter = field.role == Role::episode || field.role == Role::terminated ||
                             field.role == Role::truncated || field.role == Role::turn ||
                             field.role == Role::ended || field.role == Role::obs ||
                             field.role == Role::mask;
        if (field.slot >= 0 && (field.kept || counter)) copy_array(from, to, field.name);
    }
}

}
