#include "engine/run/rank_place.h"

#include "engine/base/error.h"

#include <algorithm>
#include <charconv>
#include <cstring>

namespace nacelle {
namespace {

// The names of the variables of one launcher.
struct Launcher {
    const char* text;
    const char *rank, *ranks, *local_rank, *local_ranks;
    bool exact;    // true if local_ranks counts the ranks of this run alone
};
constexpr Launcher launchers[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", true},
    {"Slurm", "SLURM_PROCID", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE",
     false},
    {"Open MPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE", true},
};

bool is_set(const Variables& variable, const char* name) {
    const char* const value = variable(name);
    return value && *value;
}

uint32_t number(const Variables& variable, const Launcher& launcher, const char* name, uint32_t low,
                uint32_t high) {
    if (!is_set(variable, name))
        throw Error(name, std::string("is not set, and ") + launcher.rank + " is",
                    std::string(launcher.text) +
                        " sets both; without both one process trains alone");
    const char* const text = variable(name);
    uint32_t value = 0;
    const char* const end = text + std::strlen(text);
    const auto read = std::from_chars(text, end, value);
    if (read.ec != std::errc() || read.ptr != end || value < low || value > high)
        throw Error(name, "expected a number from " + std::to_string(low) + " to " +
                              std::to_string(high) + ", found '" + text + "'");
    return value;
}

bool is_loopback(const std::string& address) {
    return address == "localhost" || address.starts_with("127.") || address == "::1";
}

// Slurm's way to name hosts, "node[003-006,9]": the first of them.
std::string first_host(const std::string& list) {
    const size_t open = list.find('['), comma = list.find(',');
    if (open == std::string::npos || comma < open) return list.substr(0, comma);
    const size_t end = list.find_first_of(",-]", open);
    return list.substr(0, open) + list.substr(open + 1, end - open - 1);
}

}

RankPlace rank_place(const Variables& variable) {
    constexpr uint32_t most_ranks = 1u << 16;
    for (const Launcher& launcher : launchers) {
        if (!is_set(variable, launcher.rank)) continue;
        // Slurm numbers a batch script, too, which is one process and no step.
        const bool slurm = launcher.rank == std::string("SLURM_PROCID");
        if (slurm && !is_set(variable, launcher.ranks)) continue;
        RankPlace place;
        place.from = launcher.rank;
        place.ranks = number(variable, launcher, launcher.ranks, 1, most_ranks);
        place.rank = number(variable, launcher, launcher.rank, 0, place.ranks - 1);
        if (place.ranks == 1) return {};
        place.local_rank = number(variable, launcher, launcher.local_rank, 0, place.ranks - 1);
        place.local_ranks = place.ranks;
        // Slurm's is the allocation's, of which a step may have fewer.
        if (is_set(variable, launcher.local_ranks))
            place.local_ranks = std::min(
                number(variable, launcher, launcher.local_ranks, 1, most_ranks), place.ranks);
        if (place.local_rank >= place.local_ranks)
            throw Error(launcher.local_rank,
                        "is " + std::to_string(place.local_rank) + ", and there are " +
                            std::to_string(place.local_ranks) + " ranks on this machine",
                        std::string("see ") + launcher.local_ranks);
        if (is_set(variable, "MASTER_ADDR")) place.address = variable("MASTER_ADDR");
        else if (slurm && is_set(variable, "SLURM_STEP_NODELIST"))
            place.address = first_host(variable("SLURM_STEP_NODELIST"));
        else
            throw Error("MASTER_ADDR",
                        "is not set, so that " + std::to_string(place.ranks) +
                            " ranks do not know where to meet",
                        "the name or address of the machine that has rank 0");
        const bool all_here = launcher.exact && is_set(variable, launcher.local_ranks) &&
                              place.local_ranks == place.ranks;
        if (all_here || is_loopback(place.address)) place.address = loopback_address;
        place.port = 29500;    // torchrun's
        if (is_set(variable, "MASTER_PORT"))
            place.port = number(variable, launcher, "MASTER_PORT", 1, 65534);
        return place;
    }
    return {};
}

int gpu_of(const RankPlace& place, const Variables& variable) {
    const char* const shown = variable("CUDA_VISIBLE_DEVICES");
    const bool one_each = place.from != "RANK" && shown && *shown && !std::strchr(shown, ',');
    return one_each ? 0 : int(place.local_rank);
}

}
