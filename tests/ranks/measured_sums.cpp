// A learner that learns nothing: an iteration is many sums over all ranks, one after the other, by the memory that kernels
// of all reach or by the communicator, and its metrics say how long one took and whether it was right.
#include "algorithms/policy_gradient/plan/headers.h"
#include "algorithms/policy_gradient/run/peer_buffer.h"

#include <learn/layout/arguments.h>
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
#include <learn/sums/strips.h>
#include <learn/sums/peers.h>
#if !defined(__CUDACC_RTC__)
#include <time.h>
#endif
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
// What the kernels have found is the sum in the order of the ranks.
template <class E> NACELLE_INLINE void check_body(const View<E>&, const SumsArgs& a, Items items) {
    const uint64_t i = items.begin;
    if (i >= 2 * a.pairs) return;
    if (a.shots > 0) {
        float sum = 0;
        for (uint32_t rank = 0; rank < a.peers->count; ++rank)
            sum += float(i % 1000) * 0.37f + float(rank) * 0.1f;
        const float off = a.to[i] - sum;
        if (!(off * off < 1e-4f)) a.arrived[1] = 1;
    }
    a.to[i] = 0;
}
NACELLE_PROGRAM()
NACELLE_KERNEL(check, SumsArgs, 128, check_body)
NACELLE_KERNEL(sums, SumsArgs, 128, sums_body)
NACELLE_KERNEL(mark, SumsArgs, 1, mark_body)
)";

class Sums final {
public:
    static constexpr const char* name = "sums";

    Sums(plugin::Host host, std::string_view text) : host_(host), ranks_(host.ranks()) {
        plugin::Config config(text);
        config.text("name", "");
        times_ = uint32_t(config.integer("times", 100, 1, 10000));
        largest_ = uint64_t(config.integer("kilobytes", 2048, 1, 1 << 20)) * floats_of_kilobyte;
        config.finish();
        const bool on_gpu = host.environment().on_gpu;
        std::vector<std::string> defines;
        if (!on_gpu) defines.push_back("NACELLE_EMULATE");
        const uint32_t program =
            host.program_of_sizes(program_text, learn::kernel_headers(), defines);
        args_.from = array<float>("from", largest_);
        args_.to = array<float>("to", largest_);
        args_.marks = array<uint64_t>("marks", 2 * most_measured);
        args_.arrived = array<uint32_t>("arrived", 2);
        std::vector<float> numbers(largest_);
        for (uint64_t i = 0; i < largest_; ++i) numbers[i] = number(i, ranks_.rank);
        host.write(const_cast<float*>(args_.from), numbers.data(), largest_ * sizeof(float));
        make_peers();
        sums_ = host.kernel(program, "sums");
        mark_ = host.kernel(program, "mark");
        check_ = host.kernel(program, "check");
    }
    uint64_t steps_per_iteration() const noexcept { return 1; }
    void record(void* stream) {
        uint32_t mark = 0;
        each([&](uint64_t floats, uint32_t way) {
            host_.all_reduce(args_.to, 2, NACELLE_SUM, stream);    // the ranks begin together
            launch_mark(mark++, stream);
            for (uint32_t i = 0; i < times_; ++i)
                if (way == 0) host_.all_reduce(args_.to, floats, NACELLE_SUM, stream);
                else add_up(floats, way, stream);
            launch_mark(mark++, stream);
            // Else numbers would grow without end; and what came of kernels is compared.
            args_.pairs = uint32_t(floats / 2);
            args_.shots = way;
            host_.launch(check_, floats, 128, args_, stream);
        });
    }
    void act(bool, void*) {}
    void metrics(plugin::Metrics& out) {
        std::vector<uint64_t> marks(2 * most_measured);
        host_.read(marks.data(), args_.marks, marks.size() * sizeof(uint64_t));
        static const char* const ways[] = {"communicator", "one_step", "two_steps"};
        size_t mark = 0;
        each([&](uint64_t floats, uint32_t way) {
            out.add(std::to_string(floats / floats_of_kilobyte) + "_KB." + ways[way],
                    double(marks[mark + 1] - marks[mark]) / 1000 / times_);
            mark += 2;
        });
        uint32_t wrong[2];
        host_.read(wrong, args_.arrived, sizeof wrong);
        out.add("wrong", double(wrong[1]));
    }

private:
    static constexpr uint64_t floats_of_kilobyte = 256,
                              kilobytes[] = {1, 19, 32, 400, 512, 1024, 2048};
    static constexpr uint64_t most_measured = 3 * std::size(kilobytes);

    template <class Fn> void each(Fn&& fn) {
        for (const uint64_t size : kilobytes)
            for (uint32_t way = 0; way < 3; ++way)
                if (size * floats_of_kilobyte <= largest_) fn(size * floats_of_kilobyte, way);
    }
    void add_up(uint64_t floats, uint32_t way, void* stream) {
        constexpr uint32_t most_blocks = 264;
        args_.pairs = uint32_t(floats / 2);
        const uint32_t parts = (args_.pairs + 127) / 128;
        args_.rounds = (parts + most_blocks - 1) / most_blocks;
        args_.blocks = (parts + args_.rounds - 1) / args_.rounds;
        args_.shots = way;
        host_.launch(sums_, uint64_t(args_.blocks) * 128, 128, args_, stream);
    }
    static float number(uint64_t i, uint32_t rank) {
        return float(i % 1000) * 0.37f + float(rank) * 0.1f;
    }
    template <class T> T* array(const char* which, uint64_t count) {
        const int64_t shape[] = {int64_t(count)};
        const auto dtype = sizeof(T) == 8             ? NACELLE_U64
                           : std::is_same_v<T, float> ? NACELLE_F32
                                                      : NACELLE_U32;
        return static_cast<T*>(host_.array_create(which, dtype, shape, false).data);
    }
    void launch_mark(uint32_t which, void* stream) {
        args_.shots = which;
        host_.launch(mark_, 1, 1, args_, stream);
    }
    void make_peers() {
        learn::PeerBuffer buffer(ranks_.ranks);
        buffer.add(0, largest_);
        args_.peers = buffer.connect(host_);
    }

    plugin::Host host_;
    nacelle_ranks ranks_;
    SumsArgs args_{};
    uint64_t largest_ = 0;
    uint32_t times_ = 0;
    nacelle_kernel sums_{}, mark_{}, check_{};
};

}

NACELLE_PLUGIN("test.sums", "1", "Adds up over ranks, again and again", plugin::Learner<Sums>)
