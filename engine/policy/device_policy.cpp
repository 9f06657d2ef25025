#include "engine/policy/device_policy.h"

#include "engine/base/error.h"
#include "engine/compile/compile_program.h"
#include "engine/compile/layout_defines.h"

#include <algorithm>

namespace nacelle {
namespace {

constexpr uint32_t largest_tile = 64, usual_tile = 16, smallest_tile = ActArgs::together;

size_t up_to_fours(size_t count) { return (count + 3) / 4 * 4; }

// Numbers one behind the other, each array at a multiple of 16 bytes.
class NumberList final {
public:
    // Adds zeros and returns their place.
    size_t add(size_t count) {
        const size_t place = numbers_.size();
        numbers_.resize(place + up_to_fours(count));
        return place;
    }
    size_t add(std::span<const float> values) {
        const size_t place = add(values.size());
        std::ranges::copy(values, numbers_.begin() + ptrdiff_t(place));
        return place;
    }
    float& operator[](size_t place) { return numbers_[place]; }
    const std::vector<float>& all() const { return numbers_; }

private:
    std::vector<float> numbers_;
};

// Where a layer lies in the list.
struct PlacedLayer {
    size_t weights, biases, inputs, width;
};
PlacedLayer placed(NumberList& list, const DenseLayer& layer) {
    const size_t width = up_to_fours(layer.outputs);
    const size_t weights = list.add(layer.inputs * width), biases = list.add(width);
    for (size_t o = 0; o < layer.outputs; ++o) {
        for (size_t i = 0; i < layer.inputs; ++i)
            list[weights + i * width + o] = layer.weights[o * layer.inputs + i];
        list[biases + o] = layer.biases[o];
    }
    return {weights, biases, layer.inputs, width};
}

template <class T> Buffer on_device(RunsOn& on, const std::vector<T>& values) {
    Buffer buffer(on.device, values.size() * sizeof(T));
    on.stream->to_device(buffer.data(), values.data(), buffer.bytes());
    on.stream->synchronize();
    return buffer;
}

std::unique_ptr<Module> act_module(RunsOn& on) {
    const ProgramText text{
        .instantiation = DevicePolicy::program_text, .headers = {}, .defines = {strict_define}};
    const Binary binary = compile_program(on, {}, text);
    return on.device->load(std::as_bytes(std::span(binary.image)));
}

}

DevicePolicy::DevicePolicy(std::shared_ptr<RunsOn> on, std::shared_ptr<const TrainedPolicy> policy)
    : on_(std::move(on)),
      policy_(std::move(policy)),
      module_(act_module(*on_)),
      kernel_(module_->kernel("nacelle_act")),
      shared_bytes_(on_->cuda() ? on_->device->info().shared_bytes : ActArgs::emulated_bytes) {
    const PolicyDescription& description = policy_->description();
    const char* const beyond = !description.encoder.empty() ? " has convolutions"
                               : description.memory() > 0   ? " has layers that remember"
                                                            : nullptr;
    if (beyond)
        throw Error(on_->device->info().name,
                    "'" + description.name + "'" + beyond + ", which GpuPolicy does not compute",
                    "Policy::act computes them on the host");
    NumberList list;
    const bool normalises = !policy_->mean().empty();
    const size_t mean = list.add(policy_->mean()), scale = list.add(policy_->scale());
    std::vector<PlacedLayer> places;
    size_t widest = up_to_fours(description.inputs());
    for (const DenseLayer& layer : policy_->layers()) {
        places.push_back(placed(list, layer));
        widest = std::max(widest, places.back().width);
    }
    if (ActArgs::shared_bytes(widest, smallest_tile) > shared_bytes_)
        throw Error(on_->device->info().name,
                    "a layer of '" + description.name + "' has " + std::to_string(widest) +
                        " numbers",
                    "a block of this GPU has memory for " +
                        std::to_string(shared_bytes_ / ActArgs::shared_bytes(1, smallest_tile)));
    numbers_ = on_device(*on_, list.all());
    const float* const first = static_cast<const float*>(numbers_.data());
    std::vector<ActLayer> layers;
    for (const PlacedLayer& place : places)
        layers.push_back({.weights = first + place.weights,
                          .biases = first + place.biases,
                          .inputs = uint32_t(place.inputs),
                          .width = uint32_t(place.width)});
    layers_ = on_device(*on_, layers);
    parts_ = on_device(*on_, policy_->parts());
    args_ = {.inputs = uint32_t(description.inputs()),
             .layer_count = uint32_t(layers.size()),
             .layers = static_cast<const ActLayer*>(layers_.data()),
             .mean = normalises ? first + mean : nullptr,
             .scale = normalises ? first + scale : nullptr,
             .bound = description.bound,
             .activation = description.activation,
             .widest = uint32_t(widest),
             .form = policy_->form(static_cast<const ActionRange*>(parts_.data())),
             .noise_steps = description.noise_steps};
}

// Three blocks side by side hide each other's waiting, and few rows keep many multiprocessors busy.
uint32_t DevicePolicy::tile_for(uint64_t rows) const {
    const auto fits = [&](uint32_t tile, size_t blocks) {
        return blocks * ActArgs::shared_bytes(args_.widest, tile) <= shared_bytes_;
    };
    const uint64_t processors = uint64_t(std::max(1, on_->device->info().processors));
    uint32_t tile = largest_tile;
    while (tile > usual_tile && (!fits(tile, 3) || rows < tile * processors)) tile /= 2;
    while (tile > smallest_tile && !fits(tile, 1)) tile /= 2;
    return tile;
}

void DevicePolicy::require_reached(const void* memory, const char* what) const {
    if (!memory)
        throw Error("GpuPolicy::act", std::string("the memory of the ") + what + " is null");
    if (!on_->device->reaches(memory))
        throw Error("GpuPolicy::act",
                    std::string("the memory of the ") + what + " is not the GPU's",
                    "Policy::act takes the host's");
}

void DevicePolicy::act(std::span<const float> observations, std::span<float> actions,
                       std::span<const uint8_t> masks, const TrainedPolicy::Draws* draws,
                       void* stream) const {
    const size_t rows = policy_->rows_of(observations, actions, masks);
    if (rows == 0) return;
    require_reached(observations.data(), "observations");
    require_reached(actions.data(), "actions");
    if (!masks.empty()) require_reached(masks.data(), "masks");
    ActArgs args = args_;
    args.observations = observations.data();
    args.masks = masks.empty() ? nullptr : masks.data();
    args.actions = actions.data();
    args.rows = rows;
    args.tile = tile_for(rows);
    args.draws = draws && policy_->description().draws;
    if (args.draws) {
        args.seed = draws->seed;
        args.step = draws->step;
    }
    const uint64_t blocks = (rows + args.tile - 1) / args.tile;
    on_->device->stream_of(stream)->launch(
        kernel_,
        {.items = blocks * ActArgs::threads,
         .threads = ActArgs::threads,
         .items_per_block = ActArgs::threads,
         .shared_bytes = uint32_t(ActArgs::shared_bytes(args.widest, args.tile))},
        std::as_bytes(std::span(&args, 1)));
}

}
