#include "engine/base/npy.h"

#include "tests/base/helpers.h"

#include <cstring>
#include <doctest/doctest.h>
#include <random>
#include <string>

using namespace nacelle;
using namespace nacelle::test;

namespace {

using namespace std::string_literals;

// A file as numpy.lib.format.write_array lays it out.
std::string file(char version, const std::string& dictionary, const std::string& data) {
    std::string header = dictionary;
    const size_t start = version == 1 ? 10 : 12;
    while ((start + header.size() + 1) % 64 != 0) header += ' ';
    header += '\n';
    std::string bytes = "\x93NUMPY"s + version + '\0' + static_cast<char>(header.size()) + '\0';
    if (version > 1) bytes += "\0\0"s;
    return bytes + header + data;
}

std::string dictionary(const std::string& descr, const std::string& shape,
                       const std::string& order = "False") {
    return "{'descr': " + descr + ", 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

std::string error_for(const std::string& bytes) {
    return error_of([&] { parse_npy(bytes, "map.npy"); });
}

}

TEST_CASE("an array that NumPy wrote is read") {
    const NpyArray array = parse_npy(
        file(1, dictionary("'<f4'", "(2, 2)"), "\0\0\xc0\x3f\0\0\0\xc0\0\0\x40\x40\0\0\x80\x40"s),
        "map.npy");
    CHECK(array.dtype == "f32");
    CHECK(array.shape == std::vector<int64_t>{2, 2});
    float numbers[4];
    REQUIRE(array.data.size() == sizeof(numbers));
    std::memcpy(numbers, array.data.data(), sizeof(numbers));
    CHECK(numbers[0] == 1.5f);
    CHECK(numbers[1] == -2.0f);
    CHECK(numbers[3] == 4.0f);
}

TEST_CASE("versions 2 and 3, single numbers and empty arrays are read") {
    CHECK(parse_npy(file(2, dictionary("'|u1'", "(3,)"), "\1\2\3"), "").dtype == "u8");
    CHECK(parse_npy(file(3, dictionary("'|b1'", "(1,)"), "\1"), "").dtype == "b8");
    CHECK(parse_npy(file(1, dictionary("'<i8'", "()"), std::string(8, '\7')), "").shape.empty());
    CHECK(parse_npy(file(1, dictionary("'<f8'", "(0, 5)"), ""), "").data.empty());
    CHECK(parse_npy(file(1, dictionary("'=i2'", "(2L,)"), "abcd"), "").dtype == "i16");
    CHECK(parse_npy(file(1, dictionary("'>i1'", "(2,)"), "ab"), "").dtype == "i8");
}

TEST_CASE("every type and shape survives the way out and back") {
    std::mt19937 random(std::random_device{}());
    for (const char* dtype :
         {"b8", "u8", "i8", "u16", "i16", "f16", "u32", "i32", "f32", "u64", "i64", "f64"}) {
        for (size_t rank = 0; rank < 5; ++rank) {
            NpyArray array{dtype, {}, {}};
            size_t size = static_cast<size_t>(std::stoi(dtype + 1)) / 8;
            for (size_t i = 0; i < rank; ++i) {
                array.shape.push_back(static_cast<int64_t>(1 + random() % 5));
                size *= static_cast<size_t>(array.shape.back());
            }
            for (size_t i = 0; i < size; ++i) array.data.push_back(std::byte(random() & 255));
            const std::string bytes = make_npy(array);
            CHECK((bytes.size() - size) % 64 == 0);
            const NpyArray read = parse_npy(bytes, "round trip");
            CHECK(read.dtype == array.dtype);
            CHECK(read.shape == array.shape);
            CHECK(read.data == array.data);
        }
    }
}

TEST_CASE("what is no readable array says why") {
    const std::string four(4, 'x');
    CHECK(error_for("") == "map.npy: is not a .npy file");
    CHECK(error_for("PK\3\4 an archive of arrays") == "map.npy: is not a .npy file");
    CHECK(error_for(file(4, dictionary("'<f4'", "(1,)"), four)) ==
          "map.npy: has .npy version 4 (there is: 1, 2, 3)");
    CHECK(error_for(file(1, dictionary("'<f4'", "(2, 3)", "True"), std::string(24, 'x'))) ==
          "map.npy: is in Fortran order (save numpy.ascontiguousarray(array))");
    CHECK(error_for(file(1, dictionary("'>f4'", "(1,)"), four)) ==
          "map.npy: holds big-endian numbers (>f4) (save array.astype('<f4'))");
    CHECK(error_for(file(1, dictionary("[('x', '<f4'), ('y', '<i4', (2,))]", "(1,)"), four)) ==
          "map.npy: holds records [('x', '<f4'), ('y', '<i4', (2,))] "
          "(save each field as an array of its own)");
    for (const std::string type : {"'<c8'", "'|O'", "'<U3'", "'<f16'", "'<M8[ns]'", "''"}) {
        CHECK(error_for(file(1, dictionary(type, "(1,)"), four)) ==
              "map.npy: holds elements of type " + type +
                  " (there is: bool, integers and floating-point numbers of up to 8 bytes)");
    }
    CHECK(error_for(file(1, dictionary("'<f4'", "(1,)"), four + "abc")) ==
          "map.npy: has 3 bytes after its array");
}

TEST_CASE("a shape that no memory holds is cut short, not multiplied to a small one") {
    const std::string huge = dictionary("'<f4'", "(4611686018427387904, 4)");
    CHECK(error_for(file(1, huge, "")) == "map.npy: is cut short");
}

TEST_CASE("a damaged header says so") {
    for (const std::string text :
         {"", "{", "{}", "{'descr': '<f4'}", "{'descr': '<f4, }", "{'descr': [('x', '<f4')",
          "{'descr': '<f4', 'fortran_order': maybe, 'shape': (1,), }",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (1, }",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,), }",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
          "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), 'more': 1, }"}) {
        INFO(text);
        CHECK(error_for(file(1, text, "xxxx")) == "map.npy: has a damaged .npy header");
    }
}

TEST_CASE("every cut and every changed byte of a file ends in an array or an Error") {
    const std::string whole = make_npy({"i32", {2, 3}, std::vector<std::byte>(24)});
    for (size_t size = 6; size < whole.size(); ++size) {
        CHECK(error_for(whole.substr(0, size)) == "map.npy: is cut short");
    }
    for (size_t at = 0; at < whole.size(); ++at) {
        for (int value = 0; value < 256; ++value) {
            std::string changed = whole;
            changed[at] = static_cast<char>(value);
            error_for(changed);
        }
    }
}

TEST_CASE("an array that contradicts itself is not written") {
    const auto data = std::vector<std::byte>(8);
    const auto refused = [](const NpyArray& array) { return error_of([&] { make_npy(array); }); };
    CHECK(refused({"f32", {3}, data}) == "make_npy: the shape does not fit 8 bytes of f32");
    CHECK(refused({"f32", {-2}, data}) == "make_npy: the shape does not fit 8 bytes of f32");
    CHECK(refused({"c64", {1}, data}) == "make_npy: there is no element type 'c64'");
    CHECK(refused({"u8", std::vector<int64_t>(30000, 1), {data[0]}}) ==
          "make_npy: the array has too many dimensions");
}
