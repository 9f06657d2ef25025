#include "algorithms/policy_gradient/run/peer_buffer.h"

namespace learn {

void PeerBuffer::add(uint32_t place, uint64_t floats, uint64_t doubles) {
    const uint64_t row = (floats + 2 * doubles + 1) / 2 * 2;
    peers_.sums[place] = {words_, row};
    words_ += 2 * uint64_t(ranks_ + 1) * row;    // of each rank, and of owners
}

Peers* PeerBuffer::connect(nacelle::plugin::Host host) {
    const int64_t shape[] = {int64_t(sizeof peers_)};
    auto* const there = static_cast<Peers*>(
        host.array_create("ranks.peers", uint32_t(nacelle::Dtype::u8), shape, false).data);
    // Addresses are written to its beginning, once all ranks are there.
    const nacelle_peers found =
        host.peer_memory(words_ * sizeof(uint64_t), reinterpret_cast<void**>(there));
    peers_.ended = found.ended;
    peers_.rank = found.rank;
    peers_.count = found.ranks;
    host.write(there, &peers_, sizeof peers_);
    return there;
}

}
