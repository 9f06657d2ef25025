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
    // Why a sum that was begun will not come, as far as what connects the ranks knows; else empty. From any thread.
    virtual std::string fault() { return {}; }
    RankProgress& progress() { return progress_; }

    // Finds out, with all ranks, whether kernels of each reach memory of the others; else the reason. All ranks get the same.
    std::string meet_peers(std::shared_ptr<Device>, Stream&);
    bool peers() const { return ended_ != nullptr; }
    // A word that kernels see: not 0 once nobody may come any more to where they wait.
    const uint32_t* ended() const { return static_cast<const uint32_t*>(ended_->data()); }
    // Keeps memory that others have opened, who may close it later than this rank, until all have met for the next one.
    void keep(std::unique_ptr<SharedMemory> memory) { kept_.push_back(std::move(memory)); }
    void let_go() { kept_.clear(); }
    // Kernels no longer wait for other ranks; what they have computed then is of no use. From any thread.
    void end_waits();

private:
    RankProgress progress_;
    std::unique_ptr<SharedMemory> ended_;    // where ranks are peers
    std::vector<std::unique_ptr<SharedMemory>> kept_;
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

// Memory of each rank that kernels of all ranks read and write. All ranks make theirs at the same time; either all have it,
// or all have the reason of the first one that does not.
class PeerMemory final {
public:
    static constexpr uint32_t most_ranks = 16;

    PeerMemory(Ranks& ranks, std::shared_ptr<Device> device, Stream& stream, size_t bytes);
    ~PeerMemory();
    PeerMemory(const PeerMemory&) = delete;
    PeerMemory& operator=(const PeerMemory&) = delete;

    const std::string& obstacle() const { return obstacle_; }
    // Of each rank's, for this one.
    std::vector<void*> addresses() const;

private:
    Ranks& ranks_;
    std::shared_ptr<Device> device_;
    std::vector<std::unique_ptr<SharedMemory>> memory_;
    std::string obstacle_;
};

// What Ranks does for numbers and bytes of the host, by way of the device; these wait.
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
