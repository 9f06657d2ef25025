#include "engine/env/environment.h"

#include <nacelle/kernel.h>

namespace nacelle {
namespace {

using Blocks = void (*)(const void* call, uint64_t begin, uint64_t end);

struct StepArguments {
    Call call;
    StepArgs args;
};
struct StepAndBehind {
    StepArguments step;
    Blocks blocks;    // the step's kernel
    uint64_t block, envs;
    const Environment::Behind* behind;
};

// A thread's range is cut into pieces that stay in its first-level cache until `behind` has read them.
constexpr uint64_t piece_envs = 512;

void step_blocks(const void* given, uint64_t begin, uint64_t end) {
    const auto& all = *static_cast<const StepAndBehind*>(given);
    const uint64_t piece = std::max<uint64_t>(1, piece_envs / all.block);
    for (uint64_t first = begin; first < end; first += piece) {
        const uint64_t last = std::min(end, first + piece);
        all.blocks(&all.step, first, last);
        (*all.behind)(first * all.block, std::min(last * all.block, all.envs));
    }
}

}

void Environment::step_into(std::span<const Elsewhere> written, const StepCopies& copies,
                            const Behind& behind) {
    EnvView view = view_;
    for (const auto& [array, memory] : written) view.place(schema(), array, memory);
    const LaunchShape shape = shape_of(count());
    const StepArgs args{.ahead = 0, .draw = false, .copies = &copies};
    if (!behind) {
        launch_program(*on_, *on_->stream, stepwise_.step, shape, view.bytes().data(),
                       args_of(args));
        return record_ticks(1);
    }
    const StepAndBehind all{.step = {.call = {view.bytes().data()}, .args = args},
                            .blocks = reinterpret_cast<Blocks>(stepwise_.step.function),
                            .block = shape.items_per_block,
                            .envs = count(),
                            .behind = &behind};
    Kernel kernel = stepwise_.step;    // by its name a message says what threw
    kernel.function = reinterpret_cast<void*>(&step_blocks);
    on_->stream->launch(kernel, shape, args_of(all));
    record_ticks(1);
}

}
