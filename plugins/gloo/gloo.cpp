// Connects ranks on CPUs by LibTorch's Gloo. Ranks meet at c10d's store, as with torchrun.
#include <arpa/inet.h>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <nacelle/plugin/communicator.h>
#include <nacelle/plugin/config.h>
#include <set>
#include <sys/socket.h>
#include <sys/un.h>
#include <torch/csrc/distributed/c10d/PrefixStore.hpp>
#include <torch/csrc/distributed/c10d/ProcessGroupGloo.hpp>
#include <torch/csrc/distributed/c10d/TCPStore.hpp>
#include <torch/csrc/inductor/aoti_torch/c/shim.h>
#include <unistd.h>

namespace {

using namespace std::chrono_literals;

// How long ranks wait for one another to come, and for each other's part of a sum: rank 0 may be evaluating.
constexpr auto to_come = 5min, to_answer = 60min;

std::string variable(const char* name) {
    const char* const value = std::getenv(name);
    return value ? value : "";
}

// The host's name for ranks on one machine.
constexpr const char* loopback = "127.0.0.1";

// A socket for c10d's store, which listens on all interfaces by default. The store closes the socket.
int bound_to_loopback(uint16_t port) {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_port = htons(port);
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (::bind(socket, reinterpret_cast<const sockaddr*>(&place), sizeof place) == 0) return socket;
    const std::string why = std::strerror(errno);
    ::close(socket);
    throw std::runtime_error("port " + std::to_string(port) + " of " + loopback +
                             ", where ranks meet, cannot be taken: " + why);
}

std::set<int> listening_sockets() {
    std::set<int> found;
    for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
        const int one = std::atoi(entry.path().filename().c_str());
        int listens = 0;
        socklen_t size = sizeof listens;
        if (::getsockopt(one, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) == 0 && listens)
            found.insert(one);
    }
    return found;
}

// Closes a port of Gloo. Gloo never closes it, and keeps a descriptor of every stranger who came and left. The port's
// descriptor becomes that of a socket that nobody calls, since Gloo may be about to accept there.
void close_port(int listener) {
    const int silent = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    sockaddr_un place{};
    place.sun_family = AF_UNIX;    // the system chooses a name
    const bool closed =
        ::bind(silent, reinterpret_cast<const sockaddr*>(&place), sizeof place.sun_family) == 0 &&
        ::listen(silent, 1) == 0 && ::dup3(silent, listener, O_CLOEXEC) == listener;
    const std::string why = std::strerror(errno);
    ::close(silent);
    if (!closed) throw std::runtime_error("the port of sums cannot be closed to strangers: " + why);
}

class Gloo final {
public:
    static constexpr const char* name = "gloo";

    Gloo(nacelle::plugin::Host, std::string_view text) {
        nacelle::plugin::Config config(text);
        const int rank = int(config.integer("rank", 0, 0, 1 << 20)),
                  ranks = int(config.integer("ranks", 1, 1, 1 << 20));
        config.integer("local_rank", 0, 0, 1 << 20);
        const std::string address = config.text("address", "");
        const auto port = uint16_t(config.integer("port", 0, 0, 65535));
        if (config.flag("on_gpu", false))
            throw std::runtime_error("adds up the memory of CPUs; 'nccl' is for GPUs");
        config.finish();
        c10d::TCPStoreOptions options;
        options.port = port;
        options.numWorkers = size_t(ranks);
        options.waitWorkers = false;
        options.timeout = to_come;
        const bool alone = address == loopback;
        c10::intrusive_ptr<c10d::TCPStore> served;
        // torchrun's agent has a store there already.
        if (rank == 0 && variable("TORCHELASTIC_USE_AGENT_STORE") != "True") {
            c10d::TCPStoreOptions serving = options;
            serving.isServer = true;
            if (alone) serving.masterListenFd = bound_to_loopback(port);
            served = c10::make_intrusive<c10d::TCPStore>(address, serving);
        }
        auto store = c10::make_intrusive<c10d::TCPStore>(address, options);
        // The agent's store outlives a restart of the ranks, and they must not meet those of before.
        const std::string attempt = variable("TORCHELASTIC_RESTART_COUNT");
        auto its_store = c10::make_intrusive<c10d::PrefixStore>(
            "nacelle/" + (attempt.empty() ? "0" : attempt), store);
        auto wires = c10d::ProcessGroupGloo::Options::create(to_answer);
        const std::string interface = variable("GLOO_SOCKET_IFNAME");
        const std::set<int> others = listening_sockets();
        wires->devices = {!interface.empty()
                              ? c10d::ProcessGroupGloo::createDeviceForInterface(interface)
                          : alone ? c10d::ProcessGroupGloo::createDeviceForHostname(loopback)
                                  : c10d::ProcessGroupGloo::createDefaultDevice()};
        std::set<int> own = listening_sockets();
        for (const int other : others) own.erase(other);
        group_ = c10::make_intrusive<c10d::ProcessGroupGloo>(its_store, rank, ranks, wires);
        // All ranks are connected once they have met here: rank 0 closes the store, and each rank its port.
        wait(group_->barrier());
        for (const int listener : own) close_port(listener);
    }
    void all_reduce(void* data, uint64_t count, nacelle_dtype dtype, nacelle_reduction reduction,
                    void*) {
        std::vector<at::Tensor> tensors = {
            tensor(data, count, dtype == NACELLE_F32 ? at::kFloat : at::kDouble)};
        c10d::AllreduceOptions options;
        options.reduceOp = reduction == NACELLE_MAX ? c10d::ReduceOp::MAX : c10d::ReduceOp::SUM;
        wait(group_->allreduce(tensors, options));
    }
    void broadcast(void* data, uint64_t bytes, uint32_t from, void*) {
        std::vector<at::Tensor> tensors = {tensor(data, bytes, at::kByte)};
        c10d::BroadcastOptions options;
        options.rootRank = from;
        wait(group_->broadcast(tensors, options));
    }

private:
    static at::Tensor tensor(void* data, uint64_t count, at::ScalarType type) {
        return at::from_blob(data, {int64_t(count)}, at::TensorOptions().dtype(type));
    }
    static void wait(const c10::intrusive_ptr<c10d::Work>& work) {
        try {
            work->wait();
        } catch (const std::exception& lost) {
            // Behind the first line are addresses in LibTorch.
            const std::string why = lost.what();
            throw std::runtime_error("another rank is gone: " + why.substr(0, why.find('\n')));
        }
    }

    c10::intrusive_ptr<c10d::ProcessGroupGloo> group_;
};

}

NACELLE_PLUGIN("nacelle.gloo", "1.0.0", "Ranks on CPUs, by LibTorch's Gloo",
               nacelle::plugin::Communicator<Gloo>)
