#pragma once
#include "engine/device/ranks.h"
#include "engine/plugins/config_text.h"
#include "engine/plugins/host_services.h"

namespace nacelle {

// Where this process stands among those that train together, and where they meet.
struct RankPlace {
    uint32_t rank = 0, ranks = 1;
    uint32_t local_rank = 0, local_ranks = 1;    // among those of this machine
    std::string address;                         // of rank 0's machine
    uint32_t port = 0;
    std::string from;    // "torchrun's RANK", "SLURM_PROCID": which variables said so
};

// The ranks of a run, connected by a communicator plugin.
class RanksInstance final : public Ranks {
public:
    // Waits until all are there.
    RanksInstance(Plugins& plugins, const std::string& name, const RankPlace& place, bool on_gpu,
                  Stream& stream);

    uint32_t rank() const override { return place_.rank; }
    uint32_t count() const override { return place_.ranks; }
    uint32_t local_rank() const override { return place_.local_rank; }
    void all_reduce(Stream&, float* data, uint64_t count, Reduction) override;
    void all_reduce(Stream&, double* data, uint64_t count, Reduction) override;
    void broadcast(Stream&, void* data, uint64_t bytes, uint32_t from) override;
    std::string fault() override;

private:
    void reduce(Stream&, void* data, uint64_t count, uint32_t dtype, Reduction);

    RankPlace place_;
    // Members are destroyed from last to first: the object, its host, the library.
    std::shared_ptr<const PluginLibrary> library_;
    nacelle_communicator functions_;
    std::unique_ptr<HostServices> services_;
    std::unique_ptr<void, void (*)(void*)> object_;
};

}
