// Compares a CPU's numbers with a GPU's.
#include "engine/base/error.h"
#include "engine/check/checks.h"

namespace nacelle {
namespace {

constexpr uint32_t strict_steps = 1000;
constexpr double tolerance = 1e-4;
// In the default mode a GPU rounds differently, and a comparison may then give another result: this fraction of
// elements may differ.
constexpr uint64_t one_apart_in = 10000;

// Why the comparison cannot be made here; empty where it can.
std::string no_gpu(const Session& session) {
    if (session.subject().backend.backend == "cpu") return "the CPU was asked for";
    try {
        open_backend({.backend = "cuda"});
        return {};
    } catch (const Error& error) {
        if (session.subject().backend.backend == "cuda") throw;
        return error.what();
    }
}

}

Finding check_equal_bits(Session& session) {
    if (const std::string why = no_gpu(session); !why.empty()) return skipped(why);
    EnvSettings settings = session.settings(session.envs());
    settings.strict = true;
    const auto cpu = session.load(Variant::plain(), settings);
    const auto gpu = session.load_on_gpu(settings);
    for (Environment* env : {cpu.get(), gpu.get()}) put_near_limit(*env, 200);
    std::string found = difference(*cpu, *gpu);
    uint32_t at = 0;
    session.play(strict_steps, [&](uint32_t i) {
        if (!found.empty()) return;
        cpu->step_at_random();
        gpu->step_at_random();
        at = i + 1;
        if (at < 6 || at % 50 == 0) found = difference(*cpu, *gpu);
    });
    if (found.empty())
        return passed("CPU and GPU have equal bits in every array after " +
                      std::to_string(strict_steps) + " strict steps");
    return refused("CPU and GPU differ in strict mode" +
                       (at ? " at step " + std::to_string(at) : " after reset()") + ": " + found,
                   "use the maths of nacelle/math.h alone, nothing that depends on the order of "
                   "agents, and no two draws of random numbers in one expression");
}

Finding check_default_mode(Session& session) {
    if (const std::string why = no_gpu(session); !why.empty()) return skipped(why);
    const EnvSettings settings = session.settings(session.envs());
    const auto cpu = session.load(Variant::plain(), settings);
    const auto gpu = session.load_on_gpu(settings);
    put_near_limit(*cpu, 200);
    Mismatches all;
    const uint32_t steps = session.steps(100);
    session.play(steps, [&](uint32_t) {
        copy_states(*cpu, *gpu);
        cpu->step_at_random();
        gpu->step_at_random();
        const Mismatches one = count_mismatches(*cpu, *gpu, tolerance);
        if (all.apart == 0) all.first = one.first;
        all.elements += one.elements;
        all.apart += one.apart;
    });
    const std::string share = std::to_string(all.apart) + " of " + std::to_string(all.elements) +
                              " numbers are apart by more than 0.0001";
    if (all.apart * one_apart_in <= all.elements)
        return passed(std::to_string(steps) + " steps, each from the CPU's state: " + share);
    return refused(share + ": " + all.first,
                   "the environment amplifies rounding: compare with env.strict=true");
}

}
