#include "engine/device/ranks.h"

#include <algorithm>

namespace nacelle {

RankPhase::RankPhase(Ranks* ranks, const char* phase)
    : progress_(ranks ? &ranks->progress() : nullptr) {
    if (progress_) before_ = progress_->phase.exchange(phase);
}
RankPhase::~RankPhase() {
    if (progress_) progress_->phase = before_;
}

void* HostRanks::room(size_t bytes) {
    if (memory_.bytes() < bytes) memory_ = Buffer(device_, std::max<size_t>(bytes, 4096));
    return memory_.data();
}

void HostRanks::all_reduce(std::span<double> values, Reduction reduction) {
    const RankWait wait(ranks_.progress());
    auto* const there = static_cast<double*>(room(values.size_bytes()));
    stream_.to_device(there, values.data(), values.size_bytes());
    ranks_.all_reduce(stream_, there, values.size(), reduction);
    stream_.to_host(values.data(), there, values.size_bytes());
    stream_.synchronize();
}

// In parts: a checkpoint may be larger than the memory that is left on a GPU.
void HostRanks::broadcast(std::span<std::byte> bytes, uint32_t from) {
    constexpr size_t part = size_t(16) << 20;
    const RankWait wait(ranks_.progress());
    while (!bytes.empty()) {
        const std::span<std::byte> now = bytes.first(std::min(part, bytes.size()));
        void* const there = room(now.size());
        if (ranks_.rank() == from) stream_.to_device(there, now.data(), now.size());
        ranks_.broadcast(stream_, there, now.size(), from);
        stream_.to_host(now.data(), there, now.size());
        stream_.synchronize();
        bytes = bytes.subspan(now.size());
    }
}

std::string HostRanks::broadcast(std::string text, uint32_t from) {
    uint64_t size = text.size();
    broadcast(std::as_writable_bytes(std::span(&size, 1)), from);
    text.resize(size);
    broadcast(std::as_writable_bytes(std::span(text)), from);
    return text;
}

}
