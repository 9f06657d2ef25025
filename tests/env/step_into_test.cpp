#include "tests/env/parts.h"
#include "tests/env/workbench.h"

#include <atomic>
#include <cstring>
#include <doctest/doctest.h>

// Steps of a CPU into memory of a caller.
using namespace nacelle;
using namespace nacelle::test;

namespace {

constexpr uint32_t count = 700;    // more than two blocks, the last one not whole

// A caller's memory for all that a step of cartpole can leave there.
struct Caller {
    std::vector<float> obs = std::vector<float>(count * 4), final_obs = obs,
                       reward = std::vector<float>(count), last_return = reward;
    std::vector<int32_t> last_length = std::vector<int32_t>(count);
    std::vector<uint8_t> done = std::vector<uint8_t>(count), terminated = done, truncated = done;
    bool any_done = false;

    std::vector<Elsewhere> written() {
        return {{"obs", obs.data()}, {"final_obs", final_obs.data()}, {"reward", reward.data()}};
    }
    StepCopies copies() {
        return {.done = done.data(),
                .terminated = terminated.data(),
                .truncated = truncated.data(),
                .last_return = last_return.data(),
                .last_length = last_length.data(),
                .any_done = &any_done};
    }
};

template <class T> std::vector<std::byte> as_bytes_of(const std::vector<T>& values) {
    const auto bytes = std::as_bytes(std::span(values));
    return {bytes.begin(), bytes.end()};
}

}

TEST_CASE("a step into a caller's memory leaves there what a step leaves") {
    for (const int threads : {1, 3}) {
        CAPTURE(threads);
        Environment plain(cpu(threads), recommended("cartpole", count, 5)),
            into(cpu(threads), recommended("cartpole", count, 5));
        const std::vector<std::byte> before = bytes_of(into.arrays()["obs"]);
        uint64_t ends = 0;
        for (int step = 0; step < 60; ++step) {
            std::vector<int32_t> push(count);
            for (uint32_t env = 0; env < count; ++env) push[env] = (env + uint32_t(step)) % 5 < 3;
            for (Environment* const env : {&plain, &into})
                env->arrays()["action.push"].write_bytes(push.data(), count);
            plain.step();
            Caller caller;
            std::atomic<uint64_t> behind = 0;
            const auto count_rows = [&](uint64_t first, uint64_t last) { behind += last - first; };
            into.step_into(caller.written(), caller.copies(),
                           step % 2 ? Environment::Behind(count_rows) : nullptr);
            CHECK(behind == (step % 2 ? count : 0));
            const auto same = [&](const char* name, const auto& values) {
                return bytes_of(plain.arrays()[name]) == as_bytes_of(values);
            };
            REQUIRE(same("obs", caller.obs));
            REQUIRE(same("reward", caller.reward));
            REQUIRE(same("terminated", caller.terminated));
            REQUIRE(same("truncated", caller.truncated));
            const std::vector<float> returns = plain.arrays()["episode.return"].host<float>(),
                                     last = plain.arrays()["final_obs"].host<float>();
            const std::vector<int32_t> lengths = plain.arrays()["episode.length"].host<int32_t>();
            bool any = false;
            for (uint32_t env = 0; env < count; ++env) {
                const bool done = caller.terminated[env] || caller.truncated[env];
                any |= done;
                ends += done;
                REQUIRE(caller.done[env] == uint8_t(done));
                REQUIRE(caller.last_return[env] == (done ? returns[env] : 0.0f));
                REQUIRE(caller.last_length[env] == (done ? lengths[env] : 0));
                for (uint32_t i = 4 * env; done && i < 4 * env + 4; ++i)
                    REQUIRE(caller.final_obs[i] == last[i]);
            }
            REQUIRE(caller.any_done == any);
        }
        CHECK(ends > count);
        CHECK(bytes_of(into.arrays()["obs"]) == before);
        for (const NamedArray& array : plain.arrays().all()) {
            if (array.role() == Role::obs || array.role() == Role::final_obs ||
                array.role() == Role::reward)
                continue;
            CAPTURE(array.name());
            CHECK(bytes_of(array) == bytes_of(into.arrays()[array.name()]));
        }
    }
}
