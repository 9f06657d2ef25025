// A learner that learns nothing: an iteration is many sums over all ranks, one after the other, by the memory that kernels
// of all reach or by the communicator, and its metrics say how long one took and whether it was right.
#include "algorithms/common/headers.h"

#include <learn/arguments.h>
#include <nacelle/plugin/config.h>
#include <nacelle/plugin/learner.h>

namespace {

namespace plugin = nacelle::plugin;

struct SumsArgs {
    learn::Peers* peers;
    const float* from;
    float* to;
    uint64_t* marks;
    uint32_t* arrived;
    uint32_t pairs, rounds, blocks, shots;
};
const std::string program_text = R"(
#include <learn/strips.h>
#include <learn/peers.h>
#include <time.h>
struct SumsArgs { learn::Peers* peers; const float* from; float* to; uint64_t* marks; uint32_t* arrived; uint32_t pairs, rounds, blocks, shots; };
using namespace nacelle;
template <int shots> NACELLE_INLINE void add_up(const learn::Exchange& exchange, const SumsArgs& a, uint32_t block) {
    const auto each_pair = [&](auto&& fn) {
        for (uint32_t round = 0; round < a.rounds; ++round) {
            const uint32_t pair = (block * a.rounds + round) * 128 + threadIdx.x;
            if (pair < a.pairs) fn(pair);
        }
    };
    each_pair([&](uint32_t pair) {
        const float own[2] = {a.from[2 * pair], a.from[2 * pair + 1]};
        exchange.send<shots>(2 * pair, own, block);
    });
    each_pair([&](uint32_t pair) {
        float sum[2] = {a.from[2 * pair], a.from[2 * pair + 1]};
        exchange.sum<shots>(2 * pair, sum, block);
        a.to[2 * pair] = sum[0];
        a.to[2 * pair + 1] = sum[1];
    });
}
template <class E> NACELLE_INLINE void sums_body(const View<E>&, const SumsArgs& a, Items items) {
    const uint32_t block = uint32_t(items.begin / 128);
    const learn::Exchange exchange(*a.peers, 0);
    if (a.shots == 1) add_up<1>(exchange, a, block);
    else add_up<2>(exchange, a, block);
    if (learn::arrives_last(a.arrived, a.blocks) && threadIdx.x == 0) learn::Exchange::next_turn(*a.peers, 0);
}
template <class E> NACELLE_INLINE void mark_body(const View<E>&, const SumsArgs& a, Items items) {
    if (items.begin != 0) return;
    uint64_t now = 0;
#if defined(__CUDACC_RTC__)
    asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
#else
    timespec clock;
    clock_gettime(CLOCK_MONOTONIC, &clock);
    now = uint64_t(clock.tv_sec) * 1000000000u + uint64_t(clock.tv_nsec);
#endif
    a.marks[a.shots] = now;
}
NACELLE_PROGRAM()
NACELLE_KERNEL(sums, SumsArgs, 128, sums_body)
NACELLE_KERNEL(mark, SumsArgs, 1, mark_body)
)";

class Sums final {
public:
    static constexpr const char* name = "sums";

    Sums(plugin::Host host, std::string_view text) : host_(host), ranks_(host.ranks()) {
        plugin::Config config(text);
        config.text("name", "");
        floats_ = uint64_t(config.integer("floats", 1024, 2, 1 << 24)) / 2 * 2;
        times_ = uint32_t(config.integer("times", 100, 1, 10000));
        shots_ = uint32_t(config.integer("shots", 1, 0, 2));
        config.finish();
        std::vector<std::string> defines;
        if (!host.environment().on_gpu) defines.push_back("NACELLE_EMULATE");
        std::string clean = program_text;
        if (host.environment().on_gpu) clean.replace(clean.find("#include <time.h>"), 17, "");
        const uint32_t program = host.program(clean, learn::kernel_headers(), defines);
        args_.from = array<float>("from", floats_);
        args_.to = array<float>("to", floats_);
        args_.marks = array<uint64_t>("marks", 2);
        args_.arrived = array<uint32_t>("arrived", 1);
        args_.pairs = uint32_t(floats_ / 2);
        constexpr uint32_t most_blocks = 264;
        const uint32_t parts = (args_.pairs + 127) / 128;
        args_.rounds = (parts + most_blocks - 1) / most_blocks;
        args_.blocks = (parts + args_.rounds - 1) / args_.rounds;
        std::vector<float> numbers(floats_);
        for (uint64_t i = 0; i < floats_; ++i) numbers[i] = number(i, ranks_.rank);
        host.write(const_cast<float*>(args_.from), numbers.data(), floats_ * sizeof(float));
        if (shots_) make_peers();
        sums_ = host.kernel(program, "sums");
        mark_ = host.kernel(program, "mark");
    }
    uint64_t steps_per_iteration() const noexcept { return 1; }
    void record(void* stream) {
        // The ranks begin together.
        host_.all_reduce(args_.to, 2, NACELLE_SUM, stream);
        mark(0, stream);
        for (uint32_t i = 0; i < times_; ++i) {
            args_.shots = shots_;
            if (shots_) host_.launch(sums_, uint64_t(args_.blocks) * 128, 128, args_, stream);
            else host_.all_reduce(args_.to, floats_, NACELLE_SUM, stream);
        }
        mark(1, stream);
    }
    void act(bool, void*) {}
    void metrics(plugin::Metrics& out) {
        uint64_t marks[2];
        host_.read(marks, args_.marks, sizeof marks);
        std::vector<float> found(floats_);
        host_.read(found.data(), args_.to, floats_ * sizeof(float));
        uint64_t wrong = 0;
        for (uint64_t i = 0; shots_ && i < floats_; ++i) {
            float sum = number(i, 0);
            for (uint32_t rank = 1; rank < ranks_.ranks; ++rank) sum += number(i, rank);
            wrong += sum != found[i];
        }
        out.add("microseconds", double(marks[1] - marks[0]) / 1000 / times_);
        out.add("wrong", double(wrong));
    }

private:
    static float number(uint64_t i, uint32_t rank) {
        return float(i % 1000) * 0.37f + 1.0f / float(rank + 3);
    }
    template <class T> T* array(const char* which, uint64_t count) {
        const int64_t shape[] = {int64_t(count)};
        const auto dtype = sizeof(T) == 8 ? NACELLE_U64 : std::is_same_v<T, float> ? NACELLE_F32 : NACELLE_U32;
        return static_cast<T*>(host_.array_create(which, dtype, shape, false).data);
    }
    void mark(uint32_t which, void* stream) {
        args_.shots = which;
        host_.launch(mark_, 1, 1, args_, stream);
    }
    void make_peers() {
        const int64_t shape[] = {int64_t(sizeof(learn::Peers))};
        args_.peers = static_cast<learn::Peers*>(host_.array_create("peers", NACELLE_U8, shape, false).data);
        learn::Peers peers{};
        peers.sums[0] = {0, floats_};
        const nacelle_peers found = host_.peer_memory(2 * (ranks_.ranks + 1) * floats_ * sizeof(uint64_t),
                                                      reinterpret_cast<void**>(args_.peers));
        peers.ended = found.ended;
        peers.rank = found.rank;
        peers.count = found.ranks;
        host_.write(args_.peers, &peers, sizeof peers);
    }

    plugin::Host host_;
    nacelle_ranks ranks_;
    SumsArgs args_{};
    uint64_t floats_ = 0;
    uint32_t times_ = 0, shots_ = 0;
    nacelle_kernel sums_{}, mark_{};
};

}

NACELLE_PLUGIN("test.sums", "1", "Adds up over ranks, again and again", plugin::Learner<Sums>)
