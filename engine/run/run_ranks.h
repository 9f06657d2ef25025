#pragma once
#include "engine/compile/backend.h"
#include "engine/config/config.h"
#include "engine/run/checkpoint.h"

#include <functional>
#include <stdexcept>

namespace nacelle {

// Another rank has failed, and says so itself.
class OtherRankFailed final : public std::runtime_error {
public:
    using runtime_error::runtime_error;
};

// What the ranks of a run decide alike, seen from one of them. All make the same calls in the same order. Where a process
// trains alone, everything is as it says itself.
class RunRanks final {
public:
    explicit RunRanks(RunsOn& on);

    uint32_t count() const { return ranks_ ? ranks_->count() : 1; }
    uint32_t rank() const { return ranks_ ? ranks_->rank() : 0; }
    bool several() const { return ranks_ != nullptr; }
    bool first() const { return rank() == 0; }

    // Marks what this rank does while the others may wait for it.
    RankPhase phase(const char* what) { return {ranks_, what}; }
    // Where this rank goes on no more: its kernels do not wait for the others.
    void end_waits() {
        if (ranks_) ranks_->end_waits();
    }
    // Waits for the device, and so for the other ranks' parts of its sums.
    void synchronize(Stream& stream);

    // Rank 0's number, and whether any of them wants to stop.
    struct Decided {
        uint64_t number = 0;
        bool stops = false;
    };
    Decided decide(uint64_t number, bool stops);
    // Rank 0's numbers become those of all.
    void share(std::span<double> values);
    // Rank 0's checkpoint.
    std::optional<Checkpoint> share(std::optional<Checkpoint> checkpoint);
    // The bytes that rank `from` has of an array become those of all.
    void share(std::span<std::byte> bytes, uint32_t from);
    // What rank 0 alone does, such as with files: where it throws, the others do not wait for what would follow, and throw
    // OtherRankFailed.
    void by_first(const std::function<void()>& does);
    // Throws on all ranks where one has another text than rank 0, which is a name for `what`.
    void require_equal(const std::string& text, const std::string& what);
    // Throws on all ranks where one has other settings than rank 0; there it says which.
    void require_same(const Json& configuration, const Json& files);

private:
    // The highest rank that says so, counted from `first`; 0: none.
    uint32_t any(bool says, uint32_t first = 0);

    Ranks* ranks_;
    std::optional<HostRanks> host_;
};

// The environments of a rank: as many as "env.count" says for each of "run.ranks", or as many as that are in all where they are
// dealt out to another number of ranks. Throws where that does not come out even.
uint32_t envs_of_rank(uint64_t count, const Json& configuration, const RunsOn& on,
                      const std::string& where);

}
