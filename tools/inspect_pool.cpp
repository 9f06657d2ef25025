#include "tools/inspect_pool.h"

#include "engine/base/text.h"
#include "tools/table.h"

#include <cstdio>
#include <cstring>

namespace nacelle::tools {
namespace {

constexpr std::string_view ending = ".past.steps";

// The numbers of a tensor; none where there is none of this name and type.
template <class T>
std::vector<T> numbers_of(const Checkpoint& checkpoint, const std::string& name, Dtype type) {
    for (const Tensor& tensor : checkpoint.tensors)
        if (tensor.name == name && tensor.dtype == type) {
            std::vector<T> numbers(tensor.data.size() / sizeof(T));
            std::memcpy(numbers.data(), tensor.data.data(), numbers.size() * sizeof(T));
            return numbers;
        }
    return {};
}
// Of the array that has the steps, without the learner's name and that of the array.
std::string policy_of(const std::string& name) {
    const size_t first = name.find('.') + 1;
    return name.substr(first, name.size() - ending.size() - first);
}
std::string rounded(const Json& number) {
    char text[32];
    std::snprintf(text, sizeof text, "%.0f", number.get<double>());
    return text;
}

}

Json describe_pools(const Checkpoint& checkpoint) {
    Json pools = Json::array();
    for (const Tensor& tensor : checkpoint.tensors) {
        if (!tensor.name.ends_with(ending)) continue;
        const std::string prefix = tensor.name.substr(0, tensor.name.size() - 5);
        const auto steps = numbers_of<uint64_t>(checkpoint, tensor.name, Dtype::u64);
        const auto results = numbers_of<uint32_t>(checkpoint, prefix + "results", Dtype::u32);
        const auto rating = numbers_of<double>(checkpoint, prefix + "rating", Dtype::f64);
        if (results.size() != 3 * steps.size() || rating.size() != steps.size() + 1) continue;
        Json members = Json::array();
        for (size_t k = 0; k < steps.size(); ++k)
            if (steps[k] > 0)
                members.push_back({{"step", steps[k] - 1},
                                   {"elo", rating[k]},
                                   {"lost", results[3 * k]},
                                   {"drawn", results[3 * k + 1]},
                                   {"won", results[3 * k + 2]}});
        pools.push_back(
            {{"policy", policy_of(tensor.name)}, {"elo", rating.back()}, {"members", members}});
    }
    return pools;
}

void print_pools(const Json& pools) {
    for (const Json& pool : pools) {
        std::printf("\npast of '%s', whose Elo is %s now; games of lately, by who learned\n",
                    printable(pool["policy"].get<std::string>()).c_str(),
                    rounded(pool["elo"]).c_str());
        Table table({"from step", "Elo", "won", "drawn", "lost"});
        for (size_t column = 0; column < 5; ++column) table.right(column);
        for (const Json& one : pool["members"])
            table.add({std::to_string(one["step"].get<uint64_t>()), rounded(one["elo"]),
                       std::to_string(one["won"].get<uint64_t>()),
                       std::to_string(one["drawn"].get<uint64_t>()),
                       std::to_string(one["lost"].get<uint64_t>())});
        table.print();
    }
}

}
