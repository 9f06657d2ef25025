// Ranks on GPUs, connected by NCCL.
#include "plugins/nccl/library.h"

#include <cstdlib>
#include <exception>
#include <nacelle/plugin/communicator.h>
#include <nacelle/plugin/config.h>

namespace {

// Ranks meet where NCCL_COMM_ID says. Unless somebody has set it: one port above MASTER_PORT, where torchrun has its store,
// and another one after each restart by it, since the port of before may not be free yet.
void name_meeting_place(const std::string& address, int64_t port) {
    const char* const restarts = std::getenv("TORCHELASTIC_RESTART_COUNT");
    const int64_t place = port + 1 + (restarts ? std::atoi(restarts) : 0);
    const bool six = address.find(':') != std::string::npos && !address.starts_with('[');
    const std::string host =
        six ? "[" + address + "]" : address;    // of IPv6, which has colons of its own
    setenv("NCCL_COMM_ID", (host + ":" + std::to_string(place)).c_str(), 0);
    // Switches that add up by multicast do it in an order of their own.
    setenv("NCCL_NVLS_ENABLE", "0", 0);
}

class Nccl final {
public:
    static constexpr const char* name = "nccl";

    Nccl(nacelle::plugin::Host host, std::string_view text) {
        nacelle::plugin::Config config(text);
        const int rank = int(config.integer("rank", 0, 0, 1 << 20)),
                  ranks = int(config.integer("ranks", 1, 1, 1 << 20));
        config.integer("local_rank", 0, 0, 1 << 20);
        const std::string address = config.text("address", "");
        const int64_t port = config.integer("port", 0, 0, 65535);
        if (!config.flag("on_gpu", true))
            throw std::runtime_error("adds up the memory of GPUs; 'gloo' is for CPUs");
        config.finish();
        name_meeting_place(address, port);
        int version = 0;
        nccl_.check(nccl_.version(&version), "tell its version");
        nccl::Id id{};
        nccl_.check(nccl_.unique_id(&id), "find where ranks meet");
        nccl_.check(nccl_.init_rank(&comm_, ranks, id, rank), "connect the ranks");
        if (rank == 0)
            host.log(NACELLE_DEBUG, "NCCL " + std::to_string(version / 10000) + "." +
                                        std::to_string(version / 100 % 100) + "." +
                                        std::to_string(version % 100));
    }
    // To end in order takes all ranks, and where something has failed one may be gone.
    ~Nccl() {
        if (!comm_) return;
        if (std::uncaught_exceptions() > 0) nccl_.abort(comm_);
        else nccl_.destroy(comm_);
    }
    void all_reduce(void* data, uint64_t count, nacelle_dtype dtype, nacelle_reduction reduction,
                    void* stream) {
        nccl_.check(nccl_.all_reduce(
                        data, data, count, dtype == NACELLE_F32 ? nccl::float32 : nccl::float64,
                        reduction == NACELLE_MAX ? nccl::max : nccl::sum, comm_, stream),
                    "add up numbers of the ranks");
    }
    void broadcast(void* data, uint64_t bytes, uint32_t from, void* stream) {
        nccl_.check(nccl_.broadcast(data, data, bytes, nccl::uint8, int(from), comm_, stream),
                    "give bytes to all ranks");
    }
    // What NCCL's own threads have found, such as a connection that is gone: its kernels wait on.
    std::string fault() {
        int found = nccl::success;
        const int told = nccl_.async_error(comm_, &found);
        if (told != nccl::success) found = told;
        if (found == nccl::success || found == nccl::in_progress) return {};
        const char* const more = nccl_.last_error(nullptr);
        return std::string("NCCL: ") + nccl_.error_text(found) +
               (more && *more ? std::string(" (") + more + ")" : "");
    }

private:
    nccl::Library nccl_;
    nccl::Comm comm_ = nullptr;
};

}

NACELLE_PLUGIN("nacelle.nccl", "1.0.0", "Ranks on GPUs, by NCCL",
               nacelle::plugin::Communicator<Nccl>)
