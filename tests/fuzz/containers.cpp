#include "tests/fuzz/containers.h"

#include "engine/run/safetensors.h"
#include "tests/fuzz/json_mutation.h"

#include <algorithm>

namespace nacelle::fuzz {

std::string sample_tensors(size_t count) {
    constexpr Dtype dtypes[] = {Dtype::f32, Dtype::u8,  Dtype::i64,
                                Dtype::b8,  Dtype::f64, Dtype::i16};
    std::vector<Tensor> tensors;
    for (size_t i = 0; i < count; ++i)
        tensors.push_back({.name = "environment.state.x" + std::to_string(i),
                           .dtype = dtypes[i % std::size(dtypes)],
                           .shape = std::vector<int64_t>(i % 4, int64_t(i)),
                           .data = {}});
    return safetensors_of(
        tensors, [&](size_t i, void* to) { std::memset(to, int(i) + 1, tensors[i].bytes()); });
}

std::string mutated_tensors(const std::string& file, const std::string& other, Dice& dice) {
    if (file.size() < 8 || dice.chance(0.2)) return mutated_bytes(file, other, dice);
    const auto header = [](const std::string& of) {
        return of.size() < 8
                   ? std::string()
                   : of.substr(8, std::min<uint64_t>(get<uint64_t>(of, 0), of.size() - 8));
    };
    const std::string old = header(file), now = mutated_json_text(old, header(other), dice);
    std::string result = file.substr(0, 8) + now + file.substr(8 + old.size());
    if (dice.chance(0.9)) put(result, 0, uint64_t(now.size()));
    return result;
}

std::string joined(const std::string& first, const std::string& second) {
    std::string both(8, '\0');
    put(both, 0, uint64_t(first.size()));
    return both + first + second;
}

std::pair<std::string, std::string> parted(const std::string& both) {
    if (both.size() < 8) return {both, ""};
    const size_t size = size_t(std::min<uint64_t>(get<uint64_t>(both, 0), both.size() - 8));
    return {both.substr(8, size), both.substr(8 + size)};
}

}
