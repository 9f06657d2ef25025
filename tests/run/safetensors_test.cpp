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

std::string refusal(const std::string& file) {
    return complaint([&] { read_safetensors(std::as_bytes(std::span(file)), "file"); });
}

std::string with_header(const std::string& header) {
    std::string file(8, '\0');
    file[0] = static_cast<char>(header.size());
    return file + header;
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
    CHECK(refusal("short") == "file: is no safetensors file: it has 5 bytes");
    CHECK(refusal(std::string(8, '\x7f') + "{}") ==
          "file: is no safetensors file: it ends within its header");
    CHECK(refusal(with_header("[]")) ==
          "file: is no safetensors file: its header is no JSON object");
    CHECK(refusal(with_header(R"({"a":{"dtype":"F8","shape":[],"data_offsets":[0,1]}})")) ==
          "file: is no safetensors file: 'a' is of type F8");
    CHECK(refusal(with_header(R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})")) ==
          "file: is no safetensors file: the place of 'a' is wrong");
    CHECK(refusal(with_header(R"({"__metadata__":{"a":"b"}})")).empty());
}
