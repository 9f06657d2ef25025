#include "engine/run/safetensors.h"
#include "tests/env/workbench.h"

#include <cstring>
#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

std::string file_of_two() {
    const std::vector<uint8_t> small{7, 8, 9};
    const std::vector<double> wide{1.5, -2.5};
    return safetensors_of({{.name = "small", .dtype = Dtype::u8, .shape = {3}},
                           {.name = "wide", .dtype = Dtype::f64, .shape = {2, 1}}},
                          [&](size_t i, void* target) {
                              if (i == 0) std::memcpy(target, small.data(), 3);
                              else std::memcpy(target, wide.data(), 16);
                          });
}

std::string refused_file(const std::string& file) {
    return complaint([&] { read_safetensors(std::as_bytes(std::span(file)), "file"); });
}

std::string with_header(const std::string& header, size_t data = 0) {
    std::string file(8, '\0');
    for (size_t i = 0; i < 8; ++i) file[i] = static_cast<char>(uint64_t(header.size()) >> (8 * i));
    return file + header + std::string(data, '\1');
}

// What is said of a tensor 'a' with this shape at this place, and 64 bytes of data.
std::string refusal_of(const std::string& shape, const std::string& place = "[0,64]") {
    const std::string header =
        R"({"a":{"dtype":"F32","shape":)" + shape + R"(,"data_offsets":)" + place + "}}";
    const std::string said = refused_file(with_header(header, 64)),
                      start = "file: is no safetensors file: ";
    CHECK((said.empty() || said.starts_with(start)));
    return said.empty() ? said : said.substr(start.size());
}

}

TEST_CASE("a safetensors file has a length, a header and the data, wide elements first") {
    const std::string file = file_of_two();
    const std::string header = R"({"small":{"data_offsets":[16,19],"dtype":"U8","shape":[3]},)"
                               R"("wide":{"data_offsets":[0,16],"dtype":"F64","shape":[2,1]}})";
    const size_t padded = (header.size() + 7) / 8 * 8;
    REQUIRE(file.size() == 8 + padded + 19);
    CHECK(static_cast<unsigned char>(file[0]) == padded);
    CHECK(file.substr(8, header.size()) == header);
    double first = 0;
    std::memcpy(&first, file.data() + 8 + padded, sizeof first);
    CHECK(first == 1.5);
    CHECK(file.substr(file.size() - 3) == "\x07\x08\x09");
}

TEST_CASE("what was written to a safetensors file is read from it") {
    const std::string file = file_of_two();
    const std::vector<Tensor> tensors = read_safetensors(std::as_bytes(std::span(file)), "file");
    REQUIRE(tensors.size() == 2);
    CHECK(tensors[0].name == "wide");
    CHECK(tensors[0].form() == "f64 [2, 1]");
    CHECK(tensors[1].form() == "u8 [3]");
    CHECK(tensors[1].data[2] == std::byte(9));
}

TEST_CASE("what is no safetensors file is refused in words") {
    CHECK(refused_file("short") == "file: is no safetensors file: it has 5 bytes");
    CHECK(refused_file(std::string(8, '\x7f') + "{}") ==
          "file: is no safetensors file: it ends within its header");
    CHECK(refused_file(with_header("[]")) ==
          "file: is no safetensors file: its header is no JSON object");
    CHECK(refused_file(with_header(R"({"a":{"dtype":"F8","shape":[],"data_offsets":[0,1]}})")) ==
          "file: is no safetensors file: 'a' is of type F8");
    CHECK(refused_file(with_header(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})")) ==
          "file: is no safetensors file: the place of 'a' is wrong");
    CHECK(refused_file(with_header(R"({"__metadata__":{"a":"b"}})")).empty());
}

TEST_CASE("sizes of a safetensors file that no array has are refused") {
    CHECK(refusal_of("[16]") == "");
    CHECK(refusal_of("[-4,-4]") == "'a' has no list of whole numbers 'shape'");
    CHECK(refusal_of("[16.0]") == "'a' has no list of whole numbers 'shape'");
    CHECK(refusal_of("[\"16\"]") == "'a' has no list of whole numbers 'shape'");
    CHECK(refusal_of("16") == "'a' has no list of whole numbers 'shape'");
    CHECK(refusal_of("[18446744073709551615]") == "'a' has no list of whole numbers 'shape'");
    // 4 * 2^62 * 4 is 64 once what is above 2^64 is lost, as is 4 * 2^63 + 16.
    CHECK(refusal_of("[4611686018427387904,4,4]") == "the sizes of 'a' are too large");
    CHECK(refusal_of("[4611686018427387920]") == "the sizes of 'a' are too large");
    std::string many = "[16";
    for (int i = 1; i < 10000; ++i) many += ",1";
    CHECK(refusal_of(many + "]") == "'a' has 10000 dimensions; at most 32 are read");
    // Somebody may go through as many rows as there are, though each is empty.
    CHECK(refusal_of("[4611686018427387904,0,4611686018427387904]", "[0,0]") ==
          "the sizes of 'a' are too large");
    CHECK(refusal_of("[4,0,4]", "[0,0]") == "there are bytes at its end that are no array's");
    const Tensor wide{.name = "a", .shape = {int64_t(1) << 62, 4}};
    CHECK(complaint([&] { wide.bytes(); }) ==
          "a: no array has the sizes f32 [4611686018427387904, 4]");
    CHECK(Tensor{.name = "a", .shape = {int64_t(1) << 20, 4, 0}}.bytes() == 0);
    CHECK(!complaint([] { Tensor{.name = "a", .shape = {-1}}.bytes(); }).empty());
}

TEST_CASE("places in a safetensors file that leave gaps or lie over one another are refused") {
    CHECK(refusal_of("[16]", "[0]") == "the place of 'a' is wrong");
    CHECK(refusal_of("[16]", "[64,0]") == "the place of 'a' is wrong");
    CHECK(refusal_of("[16]", "[-64,0]") == "'a' has no list of whole numbers 'data_offsets'");
    CHECK(refusal_of("[17]", "[0,68]") == "the place of 'a' is wrong");
    CHECK(refusal_of("[15]", "[4,64]") == "there are bytes before 'a' that are no array's");
    CHECK(refusal_of("[15]", "[0,60]") == "there are bytes at its end that are no array's");
    const auto two = [](const std::string& other) {
        return refused_file(
            with_header(R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":)"
                        R"({"dtype":"U8","shape":[4],"data_offsets":)" +
                            other + "}}",
                        8));
    };
    CHECK(two("[4,8]") == "");
    CHECK(two("[3,7]") == "file: is no safetensors file: 'b' lies where another array does");
    CHECK(contains(two("[0,4]"), "lies where another array does"));
}

TEST_CASE("a safetensors header that misleads is refused in our words") {
    const std::string one = R"("a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]})";
    CHECK(refused_file(with_header("{" + one + "," + one + "}", 1)) ==
          "file: is no safetensors file: its header: 'a' stands twice");
    CHECK(refused_file(with_header("{\"a\":")) ==
          "file: is no safetensors file: its header: the file ends before the last '}'");
    CHECK(refused_file(with_header(R"({"a":7})")) ==
          "file: is no safetensors file: 'a' is no JSON object");
    CHECK(refused_file(with_header(R"({"a":{"dtype":7}})")) ==
          "file: is no safetensors file: 'a' has no text 'dtype'");
    CHECK(refused_file(with_header(R"({"a":{}})")) ==
          "file: is no safetensors file: 'a' has no text 'dtype'");
    CHECK(refused_file(with_header(R"({"\u001b[2J":{}})")) ==
          R"(file: is no safetensors file: the name '\x1b[2J' is no plain text)");
    // Lengths of the header near 2^64, and one byte more than there is.
    for (const char low : {'\xff', '\xf8', '\x00'})
        CHECK(refused_file(low + std::string(7, '\xff') + "{}") ==
              "file: is no safetensors file: it ends within its header");
    CHECK(refused_file('\3' + std::string(7, '\0') + "{}") ==
          "file: is no safetensors file: it ends within its header");
}
