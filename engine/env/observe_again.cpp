#include "engine/env/observe_again.h"

#include "engine/base/error.h"
#include "engine/base/number_text.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <nacelle/episode.h>

namespace nacelle {
namespace {

// An agent that left in the last step has seen that step; observing it again would erase the observation.
void keep_rows_of_who_is_out(Environment& env, NamedArray& array, const Buffer& before) {
    const Field& field = *env.schema().find(array.name());
    const NamedArray* turn = nullptr;
    for (const Field& other : env.schema().fields())
        if (other.role == Role::turn && other.group == field.group && field.per == Per::row)
            turn = env.arrays().find(other.name);
    if (!turn) return;
    const std::vector<uint8_t> turns = turn->host<uint8_t>();
    if (std::find(turns.begin(), turns.end(), uint8_t(Turn::out)) == turns.end()) return;
    std::vector<std::byte> now = array.raw(), then(array.bytes());
    env.on().stream->to_host(then.data(), before.data(), before.bytes());
    env.on().stream->synchronize();
    const size_t width = now.size() / turns.size();
    for (size_t row = 0; row < turns.size(); ++row)
        if (turns[row] == uint8_t(Turn::out))
            std::memcpy(now.data() + row * width, then.data() + row * width, width);
    array.write_bytes(now.data(), array.count());
}

}

void observe_again(Environment& env) {
    const uint64_t now = env.tick();
    std::vector<std::pair<NamedArray*, Buffer>> kept;
    for (NamedArray& array : env.arrays().all()) {
        if (array.role() == Role::plugin) continue;
        kept.emplace_back(&array, Buffer(env.on().device, array.bytes()));
        env.on().stream->copy(kept.back().second.data(), array.device(), array.bytes());
    }
    env.set_tick(now > 0 ? now - 1 : 0);
    const ResetArgs args{.form = ResetArgs::look,
                         .ahead = 0,
                         .chosen = nullptr,
                         .count = env.count(),
                         .places = 0,
                         .place = nullptr};
    env.launch(env.stepwise().kernel("nacelle_reset"), env.shape_of(args.count), args_of(args));
    std::string wrong;
    try {
        require_finite_observations(env);
    } catch (const Error& bad) {
        wrong = bad.what();
    }
    for (const auto& [array, copy] : kept) {
        const Role role = array->role();
        const bool seen = role == Role::obs || role == Role::mask || role == Role::global;
        if (!seen || !wrong.empty())
            env.on().stream->copy(array->device(), copy.data(), array->bytes());
        else keep_rows_of_who_is_out(env, *array, copy);
    }
    env.set_tick(now);
    if (!wrong.empty()) throw Error(env.settings().source.filename().string(), wrong);
}

void require_finite_observations(Environment& env) {
    for (const NamedArray& array : env.arrays().all()) {
        if (array.role() != Role::obs || array.dtype() != Dtype::f32) continue;
        const std::vector<float> values = array.host<float>();
        const auto bad = std::find_if_not(values.begin(), values.end(),
                                          [](float value) { return std::isfinite(value); });
        if (bad == values.end()) continue;
        const size_t at = size_t(bad - values.begin()) / (values.size() / env.count());
        throw Error(env.name(), array.name() + " of environment " + std::to_string(at) + " is " +
                                    not_finite_text(*bad));
    }
}

}
