#pragma once
#include "engine/base/descriptor.h"
#include "engine/compile/backend.h"
#include "engine/plugins/ranks_instance.h"

#include <atomic>
#include <chrono>
#include <mutex>
#include <thread>

namespace nacelle::tools {

// Ends this process where it lives for longer than the ranks of a run may take to meet.
class RankMeeting final {
public:
    RankMeeting(const RankPlace& place, double patience);
    ~RankMeeting();
    RankMeeting(const RankMeeting&) = delete;
    RankMeeting& operator=(const RankMeeting&) = delete;

private:
    Descriptor wake_;
    std::thread thread_;
};

// Ends this process, with the other rank, its host and the reason, where one of the ranks fails, is gone, does not answer,
// or does not come to a sum in which the others wait. Each rank tells rank 0 once a second how far it is, and rank 0
// answers. A sum on a GPU cannot be broken off, so that the process ends from a thread of its own.
class RankWatch final {
public:
    // All ranks make theirs at the same time, after they were connected. `patience` is in seconds.
    RankWatch(RunsOn& on, const RankPlace& place, double patience);
    // Tells the others that this rank has ended in order, unless it has failed.
    ~RankWatch();
    RankWatch(const RankWatch&) = delete;
    RankWatch& operator=(const RankWatch&) = delete;

    // Tells the others why this rank ends, unless another one is found to be the cause.
    void failed(const std::string& reason);

private:
    using Clock = std::chrono::steady_clock;

    // Another rank, or what is known of the own one.
    struct Watched {
        uint32_t rank = 0;
        std::string host;
        Descriptor socket = Descriptor();
        std::string read;    // what came of a line that is not whole
        Clock::time_point heard, moved;
        uint64_t waits = 0;
        bool waiting = false, over = false;
        std::string phase = "start";
    };
    struct Meeting;

    // A connection before its first line, from a rank or a stranger.
    struct Guest {
        Descriptor socket;
        Clock::time_point since;
    };

    void connect(const Meeting& meeting, const std::string& address);
    void watch();
    void accept_ranks();
    void hear(Guest& guest);
    bool all_have_come() const;
    void receive(Watched& one);
    void take(Watched& one, const std::string& line);
    void judge();
    void end(const std::string& why);
    std::string own_state() const;
    void tell_all(const std::string& line);
    std::string name_of(const Watched& one) const;

    Ranks& run_;
    RankProgress& progress_;
    RankPlace place_;
    std::string host_, token_;
    std::string fault_;    // of what connects the ranks, at the last look
    std::chrono::duration<double> patience_;
    Descriptor listener_, wake_;
    std::vector<Guest> guests_;     // eldest first
    std::vector<Watched> ranks_;    // on rank 0 all, its own first; elsewhere rank 0
    std::mutex mutex_;              // held to send
    bool ended_ = false;            // under the mutex
    std::atomic<bool> leaving_ = false, told_ = false;
    std::thread thread_;
};

}
