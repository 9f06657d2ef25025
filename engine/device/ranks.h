#pragma once
#include "engine/device/device.h"

#include <atomic>
#include <vector>

namespace nacelle {

enum class Reduction : uint8_t { sum, max };

// How far a rank has come, for a thread that watches it: who waits for others, and who is not where they are.
struct RankProgress {
    std::atomic<uint64_t> waits = 0;    // for other ranks, with the one that goes on
    std::atomic<bool> waiting = false;
    std::atomic<const char*> phase = "start";
};

// Marks a wait for other ranks while it lives.
class RankWait final {
public:
    explicit RankWait(RankProgress& progress)
        : progress_(progress), before_(progress.waiting.exchange(true)) {
        if (!before_) ++progress.waits;
    }
    ~RankWait() { progress_.waiting = before_; }
    RankWait(const RankWait&) = delete;
    RankWait& operator=(const RankWait&) = delete;

private:
    RankProgress& progress_;
    bool before_;
};

// The processes that train together, seen from one of them. All make the same calls in the same order; what they get is
// the same bits everywhere. Calls are put on the stream, also under capture.
class Ranks {
public:
    virtual ~Ranks() = default;
    virtual uint32_t rank() const = 0;
    virtual uint32_t count() const = 0;
    virtual uint32_t local_rank() const = 0;    // among those of its machine
    // Numbers in the device's memory become those of all ranks together.
    virtual void all_reduce(Stream&, float* data, uint64_t count, Reduction) = 0;
    virtual void all_reduce(Stream&, double* data, uint64_t count, Reduction) = 0;
    // The bytes of rank `from` become those of all.
    virtual void broadcast(Stream&, void* data, uint64_t bytes, uint32_t from) = 0;
    RankProgress& progress() { return progress_; }

private:
    RankProgress progress_;
};

// Marks what a rank does that the others wait for, however long it takes.
class RankPhase final {
public:
    RankPhase(Ranks* ranks, const char* phase);
    ~RankPhase();
    RankPhase(const RankPhase&) = delete;
    RankPhase& operator=(const RankPhase&) = delete;

private:
    RankProgress* progress_;
    const char* before_ = nullptr;
};

// The same for numbers and bytes of the host, by way of the device; these wait.
class HostRanks final {
public:
    HostRanks(Ranks& ranks, std::shared_ptr<Device> device, Stream& stream)
        : ranks_(ranks), device_(std::move(device)), stream_(stream) {}

    void all_reduce(std::span<double> values, Reduction reduction);
    void broadcast(std::span<std::byte> bytes, uint32_t from);
    // Of any size, which only its owner knows.
    std::string broadcast(std::string text, uint32_t from);

private:
    void* room(size_t bytes);

    Ranks& ranks_;
    std::shared_ptr<Device> device_;
    Stream& stream_;
    Buffer memory_;
};

}
