#include "engine/base/error.h"
#include "engine/device/ranks.h"

#include <atomic>
#include <fstream>

namespace nacelle {
namespace {

// Of the kernel that runs on this machine: another one has another.
std::string machine_id() {
    std::string id;
    std::ifstream("/proc/sys/kernel/random/boot_id") >> id;
    return id;
}

// Every rank's text.
std::vector<std::string> from_all(HostRanks& host, const Ranks& ranks, const std::string& mine) {
    std::vector<std::string> all;
    for (uint32_t rank = 0; rank < ranks.count(); ++rank)
        all.push_back(host.broadcast(rank == ranks.rank() ? mine : std::string(), rank));
    return all;
}

std::string first_obstacle(const std::vector<std::string>& all) {
    for (size_t rank = 0; rank < all.size(); ++rank)
        if (!all[rank].empty()) return "rank " + std::to_string(rank) + ": " + all[rank];
    return {};
}

// Runs what may fail; the reason, or nothing.
template <class Fn> std::string reason_of(Fn&& fn) {
    try {
        fn();
    } catch (const std::exception& failure) {
        return failure.what();
    }
    return {};
}

}

PeerMemory::PeerMemory(Ranks& ranks, std::shared_ptr<Device> device, Stream& stream, size_t bytes)
    : ranks_(ranks), device_(std::move(device)), memory_(ranks.count()) {
    HostRanks host(ranks, device_, stream);
    const uint32_t own = ranks.rank(), count = ranks.count();
    if (count > most_ranks) {
        obstacle_ = "there are more than " + std::to_string(most_ranks) + " ranks";
        return;
    }
    const std::vector<std::string> machines = from_all(host, ranks, machine_id());
    // All ranks have come here, and have closed what they had open of the ones before.
    ranks.let_go();
    for (uint32_t rank = 1; rank < count; ++rank)
        if (machines[rank] != machines[0] || machines[rank].empty()) {
            obstacle_ = "rank " + std::to_string(rank) + " is on another machine than rank 0";
            return;
        }
    std::string handle;
    obstacle_ = first_obstacle(
        from_all(host, ranks, reason_of([&] { memory_[own] = device_->share(bytes, handle); })));
    if (!obstacle_.empty()) return;
    const std::vector<std::string> handles = from_all(host, ranks, handle);
    obstacle_ = first_obstacle(from_all(host, ranks, reason_of([&] {
                                            for (uint32_t rank = 0; rank < count; ++rank)
                                                if (rank != own)
                                                    memory_[rank] =
                                                        device_->open_shared(handles[rank]);
                                        })));
}

PeerMemory::~PeerMemory() {
    if (memory_[ranks_.rank()]) ranks_.keep(std::move(memory_[ranks_.rank()]));
}

std::vector<void*> PeerMemory::addresses() const {
    std::vector<void*> all;
    for (const auto& one : memory_) all.push_back(one->data());
    return all;
}

std::string Ranks::meet_peers(std::shared_ptr<Device> device, Stream& stream) {
    constexpr size_t some_bytes = 256;
    const PeerMemory trial(*this, device, stream, some_bytes);
    if (trial.obstacle().empty()) ended_ = device->visible_to_host(sizeof(uint32_t));
    return trial.obstacle();
}

void Ranks::end_waits() {
    if (ended_) std::atomic_ref(*static_cast<uint32_t*>(ended_->data())).store(1);
}

}
