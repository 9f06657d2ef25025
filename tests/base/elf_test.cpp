#include "engine/base/elf.h"

#include "engine/base/files.h"
#include "tests/base/elf_image.h"
#include "tests/base/helpers.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <doctest/doctest.h>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

using namespace nacelle;
using namespace nacelle::test;

extern "C" {
// Symbols of the test program itself, found again in its own file.
extern const char nacelle_test_symbol[16];
const char nacelle_test_symbol[16] = "in the program";
extern int nacelle_test_zeroes[4];
int nacelle_test_zeroes[4];
}

namespace {

std::optional<std::string> find(std::span<const std::byte> image, const std::string& symbol) {
    const auto bytes = elf_symbol(image, symbol, "image.so");
    if (!bytes) return std::nullopt;
    return std::string(reinterpret_cast<const char*>(bytes->data()), bytes->size());
}

std::string error_for(std::span<const std::byte> image) {
    return error_of([&] { elf_symbol(image, "manifest", "image.so"); });
}

std::vector<std::byte> bytes_of(const std::string& text) {
    const auto* first = reinterpret_cast<const std::byte*>(text.data());
    return {first, first + text.size()};
}

}

TEST_CASE("a symbol of a running program is read from its file") {
    const std::vector<std::byte> image = bytes_of(read_file("/proc/self/exe"));
    // A sanitizer may have put more behind it.
    const std::string found = find(image, "nacelle_test_symbol").value_or("");
    CHECK(found.substr(0, 16) == std::string("in the program\0\0", 16));
    CHECK(nacelle_test_zeroes[0] == 0);
    CHECK_FALSE(find(image, "nacelle_test_zeroes"));
    CHECK_FALSE(find(image, "main"));
}

TEST_CASE("the libraries that a program needs are read from its file") {
    const auto needed = elf_needed(bytes_of(read_file("/proc/self/exe")), "the program");
    CHECK(std::find(needed.begin(), needed.end(), "libc.so.6") != needed.end());
    CHECK(elf_needed(ElfImage(0).build(), "image.so").empty());
}

TEST_CASE("a symbol is found by its whole name, at any address, in either table") {
    for (const uint64_t address : {0u, 0x401000u}) {
        for (const uint32_t table : {uint32_t{SHT_SYMTAB}, uint32_t{SHT_DYNSYM}}) {
            ElfImage made(address, table);
            made.add("manifest_more", "wrong");
            made.add("manifest", "right");
            made.add("manifes", "wrong");
            const auto image = made.build();
            CHECK(find(image, "manifest") == "right");
            CHECK_FALSE(find(image, "anifest"));
            CHECK_FALSE(find(image, "manifest_mor"));
        }
    }
}

TEST_CASE("what has no bytes of data in the file is no data symbol") {
    ElfImage made(0);
    made.add_symbol("zeroes", ElfImage::zeroes, 0, 8);
    made.add_symbol("code", ElfImage::code, 0, 4);
    made.add_symbol("function", ElfImage::data, 0, 4, STT_FUNC);
    made.add_symbol("undefined", SHN_UNDEF, 0, 8);
    made.add_symbol("absolute", SHN_ABS, 0, 8);
    made.add_symbol("common", SHN_COMMON, 0, 8);
    const auto image = made.build();
    for (const char* name : {"zeroes", "code", "function", "undefined", "absolute", "common"}) {
        INFO(name);
        CHECK_FALSE(find(image, name));
    }
}

TEST_CASE("an undefined mention does not hide the definition that follows") {
    ElfImage made(0);
    made.add_symbol("manifest", SHN_UNDEF, 0, 0);
    made.add("manifest", "right");
    CHECK(find(made.build(), "manifest") == "right");
}

TEST_CASE("what is no 64-bit little-endian ELF file says so") {
    ElfImage made(0);
    made.add("manifest", "right");
    CHECK(error_for({}) == "image.so: is not an ELF file");
    CHECK(error_for(bytes_of("#!/bin/sh\necho a script")) == "image.so: is not an ELF file");
    auto narrow = made.build(), big = made.build(), headers = made.build();
    narrow[EI_CLASS] = std::byte{ELFCLASS32};
    CHECK(error_for(narrow) == "image.so: is not a 64-bit ELF file");
    big[EI_DATA] = std::byte{ELFDATA2MSB};
    CHECK(error_for(big) == "image.so: is not a little-endian ELF file");
    headers[offsetof(Elf64_Ehdr, e_shentsize)] = std::byte{40};
    CHECK(error_for(headers) == "image.so: has section headers of a wrong size");
}

TEST_CASE("a number of sections that 16 bits cannot hold is read from the first section") {
    ElfImage made(0);
    made.add("manifest", "right");
    auto image = made.build();
    uint64_t sections = 0;
    std::memcpy(&sections, image.data() + offsetof(Elf64_Ehdr, e_shoff), sizeof(sections));
    std::byte* count = image.data() + sections + offsetof(Elf64_Shdr, sh_size);
    std::fill_n(image.begin() + offsetof(Elf64_Ehdr, e_shnum), 2, std::byte{0});
    count[0] = std::byte{ElfImage::section_count};
    CHECK(find(image, "manifest") == "right");
    std::fill_n(count, 8, std::byte{0xff});
    CHECK(error_for(image) == "image.so: is cut short");
}

TEST_CASE("a file without sections has no symbols") {
    auto image = ElfImage(0).build();
    std::fill_n(image.begin() + offsetof(Elf64_Ehdr, e_shoff), 8, std::byte{0});
    CHECK_FALSE(find(image, "manifest"));
}

TEST_CASE("a symbol outside its section is an error") {
    for (const uint64_t value : {uint64_t{0}, uint64_t{0x1003}, uint64_t{0x9000}, ~uint64_t{0}}) {
        ElfImage made(0x1000);
        made.add("other", "other");
        made.add_symbol("manifest", ElfImage::data, value, 4);
        CHECK(error_for(made.build()) == "image.so: has a symbol that lies outside its section");
    }
    ElfImage made(0);
    made.add_symbol("manifest", 99, 0, 4);
    CHECK(error_for(made.build()) == "image.so: refers to a section that it does not have");
}

TEST_CASE("every cut of a file is an error, and no damage leads outside of it") {
    ElfImage made(0x1000);
    made.add("other", "some bytes");
    made.add("manifest", "right");
    const auto whole = made.build();
    for (size_t size = SELFMAG; size < whole.size(); ++size) {
        // A vector of its own for each, so that the address sanitizer sees the edge.
        const std::vector<std::byte> cut(whole.begin(), whole.begin() + static_cast<long>(size));
        CHECK(error_for(cut) == "image.so: is cut short");
    }

    std::mt19937 random(std::random_device{}());
    for (int trial = 0; trial < 20000; ++trial) {
        auto changed = whole;
        for (int i = 0; i < 1 + trial % 4; ++i) {
            changed[random() % changed.size()] = std::byte(random() & 255);
        }
        error_of([&] {
            const auto bytes = elf_symbol(changed, "manifest", "image.so");
            if (!bytes) return;
            const bool inside = bytes->data() >= changed.data() &&
                                bytes->data() + bytes->size() <= changed.data() + changed.size();
            if (!inside) FAIL("a span outside the image");
        });
    }
}
