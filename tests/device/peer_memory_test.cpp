#include "engine/device/ranks.h"
#include "tests/device/on_cpu.h"

#include <barrier>
#include <cstring>
#include <doctest/doctest.h>
#include <thread>

// Memory that ranks open of one another, each of them a thread.
using namespace nacelle;

namespace {

constexpr uint32_t ranks_met = 2;

struct Meeting {
    std::barrier<> all{ranks_met};
    const void* sent = nullptr;
    std::atomic<int> own = 0, opened = 0;    // how many are there
};

class Counted final : public SharedMemory {
public:
    Counted(std::unique_ptr<SharedMemory> memory, std::atomic<int>& live)
        : memory_(std::move(memory)), live_(live) {
        ++live_;
    }
    ~Counted() override { --live_; }
    void* data() const override { return memory_->data(); }

private:
    std::unique_ptr<SharedMemory> memory_;
    std::atomic<int>& live_;
};
class SharingDevice final : public OnCpu {
public:
    SharingDevice(Meeting& meeting, bool elsewhere) : meeting_(meeting), elsewhere_(elsewhere) {}
    std::unique_ptr<SharedMemory> share(size_t bytes, std::string& handle) override {
        auto memory = std::make_unique<Counted>(OnCpu::share(bytes, handle), meeting_.own);
        if (elsewhere_) handle.replace(handle.rfind(' '), std::string::npos, " pid:[1]");
        return memory;
    }
    std::unique_ptr<SharedMemory> open_shared(const std::string& handle) override {
        return std::make_unique<Counted>(OnCpu::open_shared(handle), meeting_.opened);
    }

private:
    Meeting& meeting_;
    bool elsewhere_;
};
class Threads final : public Ranks {
public:
    Threads(Meeting& meeting, uint32_t rank) : meeting_(meeting), rank_(rank) {}
    uint32_t rank() const override { return rank_; }
    uint32_t count() const override { return ranks_met; }
    uint32_t local_rank() const override { return rank_; }
    void all_reduce(Stream&, float*, uint64_t, Reduction) override {}
    void all_reduce(Stream&, double*, uint64_t, Reduction) override {}
    void broadcast(Stream& stream, void* data, uint64_t bytes, uint32_t from) override {
        stream.synchronize();
        if (rank_ == from) meeting_.sent = data;
        meeting_.all.arrive_and_wait();
        if (rank_ != from) std::memcpy(data, meeting_.sent, bytes);
        meeting_.all.arrive_and_wait();
    }

private:
    Meeting& meeting_;
    uint32_t rank_;
};

// fn(ranks, device, stream, meeting) by a thread for each rank; the second one may be in another namespace.
template <class Fn> void together(bool elsewhere, Fn&& fn) {
    Meeting meeting;
    std::vector<std::thread> threads;
    for (uint32_t rank = 0; rank < ranks_met; ++rank)
        threads.emplace_back([&, rank] {
            const auto device = std::make_shared<SharingDevice>(meeting, elsewhere && rank == 1);
            const auto stream = device->stream();
            Threads ranks(meeting, rank);
            fn(ranks, device, *stream, meeting);
        });
    for (std::thread& one : threads) one.join();
}

}

TEST_CASE(
    "ranks write into one another's memory, which is kept until all have met for the next one") {
    together(false, [](Ranks& ranks, const auto& device, Stream& stream, Meeting& meeting) {
        for (int time = 0; time < 3; ++time) {
            const PeerMemory memory(ranks, device, stream, 64);
            if (!memory.obstacle().empty()) FAIL_CHECK(memory.obstacle());
            const auto its = static_cast<uint32_t*>(memory.addresses()[1 - ranks.rank()]),
                       own = static_cast<uint32_t*>(memory.addresses()[ranks.rank()]);
            its[3] = 7 + ranks.rank();
            meeting.all.arrive_and_wait();
            if (own[3] != 8 - ranks.rank()) FAIL_CHECK("another rank wrote something else");
            if (meeting.own != 2 || meeting.opened != 2) FAIL_CHECK("memory of before is there");
            meeting.all.arrive_and_wait();
        }
        meeting.all.arrive_and_wait();
        if (meeting.own != 2 || meeting.opened != 0) FAIL_CHECK("it is not kept");
        meeting.all.arrive_and_wait();
    });
}
TEST_CASE("a rank in another namespace of processes leaves all of them without, for one reason") {
    together(true, [](Ranks& ranks, const auto& device, Stream& stream, Meeting&) {
        const std::string reason = ranks.meet_peers(device, stream);
        if (reason !=
            "rank 0: shared memory: its process is in another PID namespace than this one")
            FAIL_CHECK(reason);
        if (ranks.peers()) FAIL_CHECK("they are peers");
    });
}
