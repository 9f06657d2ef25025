#include "tools/rank_watch.h"

#include "engine/base/error.h"
#include "engine/base/number_text.h"
#include "tools/rank_sockets.h"
#include "tools/ranks.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <poll.h>
#include <random>
#include <sstream>
#include <sys/eventfd.h>
#include <utility>

namespace nacelle::tools {
namespace {

using namespace std::chrono_literals;

// Between two messages of a rank, and how long it has to end by itself, with its own error, once another one has failed.
constexpr auto between_beats = 1s, grace = 2s;

// Strangers may connect. A rank sends its number at once.
constexpr size_t most_strangers = 32;
constexpr auto time_to_speak = 10s;

void wake(int event) {
    const uint64_t one = 1;
    if (::write(event, &one, sizeof one) < 0) std::abort();    // it has room for 2^64
}

std::string one_line(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

}

// Machines of a cluster may start minutes after one another.
RankMeeting::RankMeeting(const RankPlace& place, double patience)
    : wake_(::eventfd(0, EFD_CLOEXEC)) {
    const double seconds = place.address == loopback_address ? patience : std::max(patience, 300.0);
    thread_ = std::thread([this, place, seconds] {
        pollfd met{wake_.get(), POLLIN, 0};
        if (::poll(&met, 1, int(seconds * 1000)) != 0) return;
        std::cerr << rank_text(place.rank) + " ends: not all of the " +
                         std::to_string(place.ranks) + " ranks have come to " + place.address +
                         ", port " + std::to_string(place.port) + ", within " + shortest(seconds) +
                         " s (start)\n"
                  << std::flush;
        std::_Exit(1);
    });
}
RankMeeting::~RankMeeting() {
    wake(wake_.get());
    thread_.join();
}

// Where rank 0 listens, which the ranks learn by their communicator.
struct RankWatch::Meeting {
    std::string host, token;
    uint32_t port = 0;
};

RankWatch::RankWatch(RunsOn& on, const RankPlace& place, double patience)
    : run_(*on.ranks),
      progress_(run_.progress()),
      place_(place),
      host_(host_name()),
      patience_(patience),
      wake_(::eventfd(0, EFD_CLOEXEC)) {
    const bool first = place.rank == 0;
    Meeting meeting;
    if (first) {
        auto [listener, port] = listen_at(place.address);
        listener_ = std::move(listener);
        meeting = {host_, std::to_string(std::random_device()()), port};
        token_ = meeting.token;
        for (uint32_t rank = 0; rank < place.ranks; ++rank)
            ranks_.push_back({.rank = rank, .host = rank == 0 ? host_ : "an unknown host"});
    }
    std::ostringstream mine;
    mine << meeting.host << ' ' << meeting.token << ' ' << meeting.port;
    std::istringstream said(
        HostRanks(*on.ranks, on.device, *on.stream).broadcast(first ? mine.str() : "", 0));
    said >> meeting.host >> meeting.token >> meeting.port;
    if (!first) connect(meeting, place.address);
    for (Watched& one : ranks_) one.heard = one.moved = Clock::now();
    thread_ = std::thread([this] { watch(); });
}

void RankWatch::connect(const Meeting& meeting, const std::string& address) {
    ranks_.push_back(
        {.rank = 0, .host = meeting.host, .socket = connect_to(address, meeting.port)});
    tell_all("here " + meeting.token + " " + std::to_string(place_.rank) + " " + host_);
}

RankWatch::~RankWatch() {
    tell_all("bye");
    leaving_ = true;
    wake(wake_.get());
    thread_.join();
}

void RankWatch::failed(const std::string& reason) {
    // A sum fails as soon as another rank is gone, and that one is to be named.
    for (int i = 0; i < 25 && !told_; ++i) std::this_thread::sleep_for(20ms);
    if (told_) return;
    const std::string text = one_line(reason);
    if (place_.rank > 0) return tell_all("failed " + text);
    tell_all("end " + rank_text(0) + ": " + text);
}

// Nothing may follow a rank's end.
void RankWatch::tell_all(const std::string& line) {
    const std::lock_guard lock(mutex_);
    if (ended_) return;
    for (const Watched& one : ranks_) send_line(one.socket.get(), line);
    ended_ = line == "bye" || line.starts_with("failed ") || line.starts_with("end ");
}

std::string RankWatch::name_of(const Watched& one) const {
    return "rank " + std::to_string(one.rank) + " on " + one.host;
}

std::string RankWatch::own_state() const {
    std::ostringstream text;
    text << "at " << progress_.waits << ' ' << progress_.waiting << ' ' << progress_.phase;
    return text.str();
}

void RankWatch::watch() {
    Clock::time_point next = Clock::now();
    while (!leaving_) {
        std::vector<pollfd> open = {{wake_.get(), POLLIN, 0}, {listener_.get(), POLLIN, 0}};
        for (const Guest& guest : guests_) open.push_back({guest.socket.get(), POLLIN, 0});
        for (const Watched& one : ranks_)
            if (!one.over) open.push_back({one.socket.get(), POLLIN, 0});
        ::poll(open.data(), open.size(), 200);
        if (leaving_) return;
        accept_ranks();
        for (Watched& one : ranks_) receive(one);
        const Clock::time_point now = Clock::now();
        // Where this process itself was stopped for long, it has heard of nobody; that is no fault of theirs.
        if (now - next > patience_ / 2)
            for (Watched& one : ranks_) one.heard = one.moved = now;
        if (now < next) continue;
        next = now + between_beats;
        const std::string state = own_state();
        if (place_.rank == 0) take(ranks_[0], state);
        tell_all(state);
        judge();
        // The rank that is the cause of it may be about to say so.
        const std::string before = std::exchange(fault_, run_.fault());
        if (!before.empty() && !fault_.empty()) end(rank_text(place_.rank) + ": " + fault_);
    }
}

bool RankWatch::all_have_come() const {
    return std::all_of(ranks_.begin(), ranks_.end(),
                       [](const Watched& one) { return one.rank == 0 || one.socket.get() >= 0; });
}

// Accepts connections until all ranks have come, then closes the listener.
void RankWatch::accept_ranks() {
    if (listener_.get() < 0) return;
    const size_t most = ranks_.size() + most_strangers;
    for (size_t taken = 0; taken < most; ++taken) {
        Guest guest{accept_from(listener_.get()), Clock::now()};
        if (guest.socket.get() < 0) break;
        // The eldest guest makes room: silent guests in any number do not keep a rank out.
        if (guests_.size() == most) {
            hear(guests_.front());
            guests_.erase(guests_.begin());
        }
        guests_.push_back(std::move(guest));
        hear(guests_.back());
    }
    for (Guest& guest : guests_) hear(guest);
    const Clock::time_point now = Clock::now();
    std::erase_if(guests_, [now](const Guest& guest) {
        return guest.socket.get() < 0 || now - guest.since > time_to_speak;
    });
    if (!all_have_come()) return;
    guests_.clear();
    listener_.close();
}

// Takes a guest for a rank if its line has the token.
void RankWatch::hear(Guest& guest) {
    std::string line;
    if (guest.socket.get() < 0 || !peek_line(guest.socket.get(), line)) return;
    std::istringstream said(line);
    std::string here, token, host;
    size_t rank = 0;
    said >> here >> token >> rank >> host;
    if (here == "here" && token == token_ && rank > 0 && rank < ranks_.size()) {
        const std::lock_guard lock(mutex_);
        ranks_[rank].host = host;
        ranks_[rank].socket = std::move(guest.socket);
    }
    guest.socket.close();
}

void RankWatch::receive(Watched& one) {
    if (one.over || one.socket.get() < 0) return;
    const bool open = receive_some(one.socket.get(), one.read);
    for (size_t end; (end = one.read.find('\n')) != std::string::npos;) {
        const std::string line = one.read.substr(0, end);
        one.read.erase(0, end + 1);
        take(one, line);
    }
    if (!open && !one.over) {
        one.over = true;
        end(name_of(one) + " is gone, and gave no reason");
    }
}

void RankWatch::take(Watched& one, const std::string& line) {
    one.heard = Clock::now();
    std::istringstream said(line);
    std::string what;
    said >> what;
    const std::string rest = line.substr(std::min(line.size(), what.size() + 1));
    if (what == "at") {
        uint64_t waits = 0;
        bool waiting = false;
        said >> waits >> waiting;
        if (waits != one.waits || waiting) one.moved = one.heard;
        one.waits = waits;
        one.waiting = waiting;
        std::getline(said >> std::ws, one.phase);
    }
    if (what == "bye" || what == "failed" || what == "end") one.over = true;
    if (what == "failed") end(name_of(one) + ": " + rest);
    if (what == "end") end(rest);
}

void RankWatch::judge() {
    const Clock::time_point now = Clock::now();
    const std::string seconds = shortest(patience_.count()) + " s";
    uint64_t furthest = 0;
    for (const Watched& one : ranks_) furthest = std::max(furthest, one.waits);
    for (Watched& one : ranks_) {
        if (one.over) continue;
        // Evaluations and saves take as long as they take.
        if (one.waits == furthest || one.phase != "training") one.moved = now;
        std::string why;
        if (now - one.heard > patience_) why = "has not answered for " + seconds;
        else if (now - one.moved > patience_)
            why = "has not come for " + seconds + " to a sum in which the others wait";
        if (why.empty()) continue;
        one.over = true;
        end(name_of(one) + " " + why + " (" + one.phase + "); run.rank_timeout sets how long");
        return;
    }
}

void RankWatch::end(const std::string& why) {
    // A rank that has failed says so itself.
    const bool told = [this] {
        const std::lock_guard lock(mutex_);
        return ended_;
    }();
    tell_all("end " + why);
    if (!told) std::cerr << rank_text(place_.rank) + " ends: " + why + "\n" << std::flush;
    told_ = true;
    pollfd leaving{wake_.get(), POLLIN, 0};
    ::poll(&leaving, 1, int(std::chrono::milliseconds(grace).count()));
    if (leaving_) return;
    // A GPU's kernels are not left to wait for a rank that is gone.
    run_.end_waits();
    std::this_thread::sleep_for(50ms);
    std::_Exit(1);
}

}
