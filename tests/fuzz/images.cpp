#include "tests/fuzz/images.h"

#include "engine/base/elf.h"
#include "engine/base/error.h"
#include "tests/base/elf_image.h"

#include <algorithm>
#include <elf.h>

namespace nacelle::fuzz {
namespace {

#if defined(__x86_64__)
constexpr uint16_t own_machine = EM_X86_64;
#else
constexpr uint16_t own_machine = EM_AARCH64;
#endif

// Offsets, sizes, counts and kinds: in the header, or among the last bytes, where sections are listed.
void damage_number(std::string& image, Dice& dice) {
    const size_t region = std::min<size_t>(image.size(), dice.chance(0.4) ? 64 : 640);
    if (region < 8) return;
    const size_t from = region == 64 || dice.chance(0.5) ? 0 : image.size() - region;
    const size_t at = from + dice.index(region - 7);
    if (dice.chance(0.5)) put(image, at & ~size_t(3), uint32_t(odd_number(dice)));
    else put(image, at & ~size_t(7), odd_number(dice));
}

}

std::string small_image(const std::string& symbol, const std::string& content) {
    test::ElfImage image(0x1000, SHT_DYNSYM);
    image.add("other", "some bytes");
    image.add(symbol, content);
    const std::vector<std::byte> bytes = image.build();
    std::string file(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    put(file, offsetof(Elf64_Ehdr, e_type), uint16_t(ET_DYN));
    put(file, offsetof(Elf64_Ehdr, e_machine), own_machine);
    return file;
}

std::span<char> place_of(std::string& image, const std::string& symbol) {
    try {
        const auto found = elf_symbol(bytes_of(image), symbol, "image");
        if (!found) return {};
        const auto at = size_t(reinterpret_cast<const char*>(found->data()) - image.data());
        return {image.data() + at, found->size()};
    } catch (const Error&) {
        return {};
    }
}

std::string content_of(const std::string& image, const std::string& symbol) {
    std::string copy = image;
    const std::span<char> place = place_of(copy, symbol);
    return {place.begin(), place.end()};
}

std::string damaged_image(std::string image, const std::string& other, Dice& dice) {
    if (dice.chance(0.5)) return mutated_bytes(std::move(image), other, dice);
    for (int i = 1 + dice.below(4); i > 0; --i) damage_number(image, dice);
    return image;
}

}
