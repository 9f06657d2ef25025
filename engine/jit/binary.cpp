#include "engine/base/files.h"
#include "engine/jit/jit.h"

namespace nacelle {

std::vector<std::byte> Binary::elf() const {
    if (!is_path) return image;
    const std::string file =
        read_file(std::string(reinterpret_cast<const char*>(image.data()), image.size()));
    const auto* begin = reinterpret_cast<const std::byte*>(file.data());
    return {begin, begin + file.size()};
}

}
