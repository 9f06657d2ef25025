#include "engine/base/files.h"
#include "engine/jit/jit.h"

namespace nacelle {

std::vector<std::byte> Binary::elf() const {
    const std::string file = is_path ? read_file(image) : image;
    const auto* const begin = reinterpret_cast<const std::byte*>(file.data());
    return {begin, begin + file.size()};
}

}
