#pragma once
#include "algorithms/replay/learner_settings.h"

#include <nacelle/plugin/host.h>
#include <off_policy/arguments.h>

namespace off_policy {

// Where a learner's kernels run, and in what numbers: none on a CPU, else planes of bfloat16.
struct Place {
    bool on_gpu = false;    // or as one, in an emulation
    bool emulates = false;
    int planes = 0;
    uint32_t ranks = 1;
    bool peers = false;    // whether kernels add up in the memory of all ranks
};
Place place_of(const replay::LearnerSettings& settings, const nacelle_environment& environment,
               const nacelle_ranks& ranks);

// What is compiled, and the kernels that it has.
struct ProgramText {
    std::string text;
    std::vector<const char*> kernels;
};
ProgramText program_text(const Place& place, const std::string& activation);
std::vector<nacelle_header> all_headers();

class Kernels final {
public:
    Kernels(nacelle::plugin::Host host, const Place& place, const std::string& activation);

    // Over so many items, in blocks of learn::block_threads.
    template <class Args>
    void launch(const char* name, uint64_t items, const Args& args, void* stream) const {
        host_.launch(kernel(name), items, learn::block_threads, args, stream);
    }
    // A GPU's products, in so many blocks of so many columns.
    void launch(const char* name, uint32_t columns, uint64_t blocks, const learn::Products& args,
                void* stream) const;

private:
    const nacelle_kernel& kernel(const char* name) const;

    nacelle::plugin::Host host_;
    int planes_;
    std::vector<std::pair<std::string, nacelle_kernel>> kernels_;
};

}
