#include "tools/ranks.h"

#include "engine/base/descriptor.h"
#include "engine/base/error.h"
#include "engine/base/files.h"
#include "engine/run/settings.h"
#include "tools/command_line.h"
#include "tools/rank_sockets.h"

#include <arpa/inet.h>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <iostream>
#include <random>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nacelle::tools {
namespace {

const char* variable(const char* name) { return std::getenv(name); }

// How long the others have to end by themselves once one has failed.
constexpr int patience = 6;

bool is_free(uint32_t port) {
    const Descriptor probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_port = htons(uint16_t(port));
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return probe.get() >= 0 &&
           ::bind(probe.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0;
}
// A free port below another one, where NCCL meets. The system gives ports from 32,768 on to connections, and keeps each for a
// minute behind its connection: thousands of short connections leave no two neighbours there.
uint32_t free_ports() {
    std::random_device random;
    std::uniform_int_distribution<uint32_t> ports(10240, 32766);
    for (int tries = 0; tries < 100; ++tries)
        if (const uint32_t port = ports(random); is_free(port) && is_free(port + 1)) return port;
    throw Error("--ranks", "no port is free on which ranks could meet");
}

// Raises the limit of descriptors, commonly 1,024, as far as the system allows: each connection of a stranger to a
// rank's ports takes one.
void take_all_descriptors() {
    rlimit limit{};
    if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
    limit.rlim_cur = limit.rlim_max;
    if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) return;    // the limit stays
}

// The words of this process's own command line.
std::vector<std::string> own_words() {
    const std::string all = read_file("/proc/self/cmdline");
    std::vector<std::string> words;
    for (size_t from = 0; from < all.size(); from = all.find('\0', from) + 1)
        words.emplace_back(all.c_str() + from);
    return words;
}

std::string ending(int status) {
    if (WIFSIGNALED(status))
        return "was ended by signal " + std::to_string(WTERMSIG(status)) + " (" +
               ::strsignal(WTERMSIG(status)) + ")";
    return "ended with status " + std::to_string(WEXITSTATUS(status));
}

// The ranks of this machine, from their start to the end of the last one.
class StartedRanks final {
public:
    explicit StartedRanks(uint32_t count, const std::vector<std::string>& more = {},
                          int output = -1) {
        for (const int one : {SIGCHLD, SIGINT, SIGTERM, SIGHUP}) sigaddset(&awaited_, one);
        sigprocmask(SIG_BLOCK, &awaited_, &before_);
        const uint32_t port = free_ports();
        std::vector<std::string> words = own_words();
        words.insert(words.end(), more.begin(), more.end());
        for (uint32_t rank = 0; rank < count; ++rank)
            ranks_.push_back(start(rank, count, port, words, rank == 0 ? output : -1));
    }
    ~StartedRanks() { sigprocmask(SIG_SETMASK, &before_, nullptr); }
    StartedRanks(const StartedRanks&) = delete;
    StartedRanks& operator=(const StartedRanks&) = delete;

    int wait() {
        while (left() > 0) {
            timespec second{.tv_sec = 1, .tv_nsec = 0};
            const int signal = sigtimedwait(&awaited_, nullptr, &second);
            // A terminal tells the ranks itself, who take both for one; somebody's `kill` tells this process alone.
            if (signal > 0 && signal != SIGCHLD) tell(signal);
            collect();
            if (status_ != 0 && ::time(nullptr) - failed_ > patience) tell(SIGKILL);
        }
        return status_;
    }

private:
    struct Started {
        pid_t process;
        bool there = true;
    };

    Started start(uint32_t rank, uint32_t count, uint32_t port,
                  const std::vector<std::string>& words, int output) {
        const pid_t parent = ::getpid(), process = ::fork();
        if (process < 0)
            throw Error("--ranks",
                        "a process could not be started: " + std::string(std::strerror(errno)),
                        "end other programs, or take fewer ranks");
        if (process > 0) return {process};
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (::getppid() != parent) std::_Exit(1);
        sigprocmask(SIG_SETMASK, &before_, nullptr);
        if (output >= 0) ::dup2(output, STDOUT_FILENO);
        const auto set = [](const char* name, const std::string& value) {
            ::setenv(name, value.c_str(), 1);
        };
        set("RANK", std::to_string(rank));
        set("LOCAL_RANK", std::to_string(rank));
        set("WORLD_SIZE", std::to_string(count));
        set("LOCAL_WORLD_SIZE", std::to_string(count));
        set("MASTER_ADDR", loopback_address);
        set("MASTER_PORT", std::to_string(port));
        std::vector<char*> arguments;
        for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
        arguments.push_back(nullptr);
        ::execv(own_program().c_str(), arguments.data());
        std::_Exit(127);
    }
    size_t left() const {
        size_t count = 0;
        for (const Started& rank : ranks_) count += rank.there;
        return count;
    }
    void tell(int signal) {
        for (const Started& rank : ranks_)
            if (rank.there) ::kill(rank.process, signal);
    }
    void collect() {
        int status = 0;
        for (pid_t process; (process = ::waitpid(-1, &status, WNOHANG)) > 0;)
            for (size_t r = 0; r < ranks_.size(); ++r)
                if (ranks_[r].process == process) ended(uint32_t(r), status);
    }
    void ended(uint32_t rank, int status) {
        ranks_[rank].there = false;
        if (status == 0 || status_ != 0) return;
        status_ = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
        failed_ = ::time(nullptr);
        std::cerr << rank_text(rank) << " " << ending(status)
                  << (left() ? "; the other ranks are ended" : "") << std::endl;
    }

    sigset_t awaited_{}, before_{};
    std::vector<Started> ranks_;
    int status_ = 0;
    time_t failed_ = 0;
};

}

RankPlace own_place(uint32_t asked) {
    RankPlace place = rank_place(variable);
    if (asked > 0 && asked != place.ranks)
        throw Error("--ranks",
                    "asks for " + std::to_string(asked) + ", and " + place.from +
                        " is set by a launcher that started " + std::to_string(place.ranks),
                    "leave it to one of them");
    return place;
}

bool starts_ranks(uint32_t asked) { return asked > 1 && rank_place(variable).ranks == 1; }

bool is_rank() { return variable("RANK") != nullptr; }

int run_ranks(uint32_t count, const std::vector<std::string>& more, int output) {
    return StartedRanks(count, more, output).wait();
}

void start_ranks(uint32_t count) { throw EndWith{StartedRanks(count).wait()}; }

void join_ranks(RunsOn& on, Plugins& plugins, const RankPlace& place, const Json& configuration,
                const std::string& where) {
    if (place.ranks == 1) return;
    take_all_descriptors();
    const std::string name = communicator_of(configuration, where, on.cuda());
    on.ranks = std::make_unique<RanksInstance>(plugins, name, place, on.cuda(), *on.stream);
    if (!peer_memory_of(configuration, where)) return;
    const std::string obstacle = on.ranks->meet_peers(on.device, *on.stream);
    if (on.cuda() && place.rank == 0 && !obstacle.empty())
        on.log.write(LogLevel::info, "all sums of the ranks go through " + name +
                                         ": GPUs do not reach one another's memory (" + obstacle +
                                         ")");
}

std::string rank_text(uint32_t rank) {
    return "rank " + std::to_string(rank) + " on " + host_name();
}

}
