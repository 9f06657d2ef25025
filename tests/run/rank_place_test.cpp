#include "engine/base/error.h"
#include "engine/run/rank_place.h"

#include <doctest/doctest.h>
#include <map>

using namespace nacelle;

namespace {

using Set = std::map<std::string, std::string>;

Variables variables(const Set& set) {
    return [&set](const char* name) -> const char* {
        const auto found = set.find(name);
        return found == set.end() ? nullptr : found->second.c_str();
    };
}
RankPlace place_of(const Set& set) { return rank_place(variables(set)); }
std::string refusal(const Set& set) {
    try {
        place_of(set);
    } catch (const Error& error) {
        return error.what();
    }
    return "taken";
}

const Set torchrun = {{"RANK", "5"},
                      {"WORLD_SIZE", "8"},
                      {"LOCAL_RANK", "1"},
                      {"LOCAL_WORLD_SIZE", "4"},
                      {"MASTER_ADDR", "node1"},
                      {"MASTER_PORT", "1234"}};
const Set slurm = {{"SLURM_PROCID", "3"},
                   {"SLURM_STEP_NUM_TASKS", "4"},
                   {"SLURM_LOCALID", "1"},
                   {"SLURM_STEP_NODELIST", "gpu[003-004,9]"}};
const Set open_mpi = {{"OMPI_COMM_WORLD_RANK", "1"},
                      {"OMPI_COMM_WORLD_SIZE", "2"},
                      {"OMPI_COMM_WORLD_LOCAL_RANK", "0"},
                      {"OMPI_COMM_WORLD_LOCAL_SIZE", "1"},
                      {"MASTER_ADDR", "node1"}};

Set with(Set set, const std::string& name, const std::string& value) {
    set[name] = value;
    return set;
}
Set without(Set set, const std::string& name) {
    set.erase(name);
    return set;
}

}

TEST_CASE("a rank finds its place by torchrun's variables, Slurm's or Open MPI's") {
    CHECK(place_of({}).ranks == 1);
    const RankPlace place = place_of(torchrun);
    CHECK(place.rank == 5);
    CHECK(place.ranks == 8);
    CHECK(place.local_rank == 1);
    CHECK(place.local_ranks == 4);
    CHECK(place.address == "node1");
    CHECK(place.port == 1234);
    const RankPlace task = place_of(slurm);
    CHECK(task.rank == 3);
    CHECK(task.ranks == 4);
    CHECK(task.local_rank == 1);
    CHECK(task.address == "gpu003");
    CHECK(task.port == 29500);
    CHECK(place_of(with(slurm, "SLURM_STEP_NODELIST", "a7,b[1-2]")).address == "a7");
    CHECK(place_of(with(slurm, "MASTER_ADDR", "10.0.0.1")).address == "10.0.0.1");
    CHECK(place_of(with(slurm, "SLURM_NTASKS_PER_NODE", "8")).local_ranks == 4);
    CHECK(place_of(open_mpi).rank == 1);
    // torchrun within a step of Slurm.
    Set both = torchrun;
    both.insert(slurm.begin(), slurm.end());
    CHECK(place_of(both).rank == 5);
}

TEST_CASE("ranks on one machine meet at the loopback address") {
    for (const char* const name : {"localhost", "127.0.1.1", "::1"})
        CHECK(place_of(with(torchrun, "MASTER_ADDR", name)).address == "127.0.0.1");
    CHECK(place_of(with(torchrun, "LOCAL_WORLD_SIZE", "8")).address == "127.0.0.1");
    CHECK(place_of(with(open_mpi, "OMPI_COMM_WORLD_LOCAL_SIZE", "2")).address == "127.0.0.1");
    // Slurm's count is of the allocation: a step of so few may lie on several machines.
    CHECK(place_of(with(slurm, "SLURM_NTASKS_PER_NODE", "8")).address == "gpu003");
    CHECK(place_of(without(torchrun, "LOCAL_WORLD_SIZE")).address == "node1");
}

TEST_CASE("a batch script of Slurm and a world of one train alone") {
    CHECK(place_of({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_LOCALID", "0"}}).ranks ==
          1);
    CHECK(place_of({{"RANK", "0"}, {"WORLD_SIZE", "1"}}).ranks == 1);
}

TEST_CASE("what is missing among a launcher's variables is named") {
    CHECK(refusal(without(torchrun, "WORLD_SIZE")) ==
          "WORLD_SIZE: is not set, and RANK is (torchrun sets both; without both one process "
          "trains alone)");
    CHECK(refusal(without(torchrun, "LOCAL_RANK")).starts_with("LOCAL_RANK: is not set"));
    CHECK(refusal(without(open_mpi, "MASTER_ADDR")).starts_with("MASTER_ADDR: is not set"));
    CHECK(refusal(without(slurm, "SLURM_STEP_NODELIST")).starts_with("MASTER_ADDR: is not set"));
    CHECK(refusal(with(torchrun, "RANK", "8")) == "RANK: expected a number from 0 to 7, found '8'");
    CHECK(refusal(with(torchrun, "RANK", "five")) ==
          "RANK: expected a number from 0 to 7, found 'five'");
    CHECK(refusal(with(torchrun, "MASTER_PORT", "0")).starts_with("MASTER_PORT: expected"));
    CHECK(refusal(with(torchrun, "LOCAL_WORLD_SIZE", "1")) ==
          "LOCAL_RANK: is 1, and there are 1 ranks on this machine (see LOCAL_WORLD_SIZE)");
}

TEST_CASE("a rank has the GPU of its number on the machine, or the only one that it is shown") {
    const auto gpu = [](const Set& set) { return gpu_of(place_of(set), variables(set)); };
    CHECK(gpu(torchrun) == 1);
    CHECK(gpu(slurm) == 1);
    CHECK(gpu(with(slurm, "CUDA_VISIBLE_DEVICES", "0,1")) == 1);
    CHECK(gpu(with(slurm, "CUDA_VISIBLE_DEVICES", "3")) == 0);
    CHECK(gpu(with(torchrun, "CUDA_VISIBLE_DEVICES", "3")) == 1);
}
