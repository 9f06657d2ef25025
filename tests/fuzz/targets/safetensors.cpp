#include "engine/run/safetensors.h"

#include "tests/fuzz/containers.h"
#include "tests/fuzz/target.h"

namespace nacelle::fuzz {
namespace {

class Safetensors final : public Target {
public:
    std::vector<std::string> samples() override { return {sample_tensors(0), sample_tensors(6)}; }

    std::string mutated(const std::string& input, const std::string& other, Dice& dice) override {
        return mutated_tensors(input, other, dice);
    }

    void read(const std::string& input) override {
        const std::span<const std::byte> bytes = std::as_bytes(std::span(input));
        unsigned sum = 0;
        for (const Tensor& tensor : read_safetensors(bytes, "step.safetensors")) {
            sum += unsigned(tensor.form().size());
            for (const std::byte byte : tensor.data) sum += unsigned(byte);
        }
        volatile unsigned seen = sum;    // every byte of every tensor is read
        (void)seen;
    }
};

}

std::unique_ptr<Target> safetensors_target() { return std::make_unique<Safetensors>(); }

}
