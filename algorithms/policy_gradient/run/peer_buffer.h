#pragma once
#include <cstdint>
#include <learn/layout/arguments.h>
#include <nacelle/plugin/host.h>

namespace learn {

// The memory in which ranks that reach one another's add up: a place for each kind of sums, for even and for odd turns.
// Exchange writes there; what it takes is counted here.
class PeerBuffer final {
public:
    explicit PeerBuffer(uint32_t ranks) : ranks_(ranks) {}

    // A place for so many numbers of each rank. A float has a word, a double two, and rows of them lie in pairs.
    void add(uint32_t place, uint64_t floats, uint64_t doubles = 0);
    uint64_t words() const { return words_; }    // of the memory of one rank
    const PeerSums& of(uint32_t place) const { return peers_.sums[place]; }
    // Makes the memory, and what kernels need of it. In create() alone.
    Peers* connect(nacelle::plugin::Host host);

private:
    uint32_t ranks_;
    uint64_t words_ = 0;
    Peers peers_{};
};

}
