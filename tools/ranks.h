#pragma once
#include "engine/run/rank_place.h"
#include "tools/options.h"

namespace nacelle::tools {

// Where this process stands, by the variables of its launcher. Throws where `asked`, unless 0, is another number of ranks.
RankPlace own_place(uint32_t asked);
// Whether this process is to start the ranks that were asked for: nobody else has started it as one of them.
bool starts_ranks(uint32_t asked);
// Starts this command again as so many ranks on this machine, with the variables that torchrun sets, and waits for them.
// Where one ends badly, so do all others. Ends with the status of the first one that failed.
[[noreturn]] void start_ranks(uint32_t count);
// The same with more words behind the command; what rank 0 prints goes to `output`. Returns the status.
int run_ranks(uint32_t count, const std::vector<std::string>& more, int output);
// Whether somebody has started this process as a rank, be it the only one.
bool is_rank();

// Connects this process with the other ranks by the configuration's communicator; nothing where it trains alone.
void join_ranks(RunsOn& on, Plugins& plugins, const RankPlace& place, const Json& configuration,
                const std::string& where);
// "rank 1 on HOST"
std::string rank_text(uint32_t rank);

}
