#include "engine/base/npy.h"
#include "tests/fuzz/mutation.h"
#include "tests/fuzz/target.h"

#include <stdexcept>

namespace nacelle::fuzz {
namespace {

constexpr size_t start = 10;    // of the header, in version 1

class Npy final : public Target {
public:
    std::vector<std::string> samples() override {
        std::vector<std::string> files;
        for (const char* const dtype : {"f32", "b8", "i64", "f16"})
            for (const std::vector<int64_t>& shape :
                 {std::vector<int64_t>{}, {3}, {2, 3}, {0, 4}, {2, 1, 2, 1, 2}}) {
                size_t size = dtype[1] == '8' ? 1 : dtype[0] == 'i' ? 8 : dtype[1] == '1' ? 2 : 4;
                for (const int64_t one : shape) size *= size_t(one);
                files.push_back(make_npy({dtype, shape, std::vector<std::byte>(size)}));
            }
        return files;
    }

    // The header's text is another, and its length mostly the one that it then has.
    std::string mutated(const std::string& input, const std::string& other, Dice& dice) override {
        if (input.size() < start || dice.chance(0.3)) return mutated_bytes(input, other, dice);
        const size_t length = std::min<size_t>(get<uint16_t>(input, 8), input.size() - start);
        std::string header = input.substr(start, length);
        do header = mutated_text(header, other.substr(0, 200), dice);
        while (dice.chance(0.3));
        std::string file = input.substr(0, start) + header + input.substr(start + length);
        if (dice.chance(0.9)) put(file, 8, uint16_t(header.size()));
        if (dice.chance(0.1)) file[6] = char(dice.below(5));
        return file;
    }

    void read(const std::string& input) override {
        const NpyArray array = parse_npy(input, "map.npy");
        const NpyArray again = parse_npy(make_npy(array), "again.npy");
        if (again.dtype != array.dtype || again.shape != array.shape || again.data != array.data)
            throw std::logic_error("an array is another one when it was written and read");
    }
};

}

std::unique_ptr<Target> npy_target() { return std::make_unique<Npy>(); }

}
