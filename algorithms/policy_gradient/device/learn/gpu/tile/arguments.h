#pragma once
#include <learn/layout/arguments.h>
#include <learn/layout/blocked.h>
#include <learn/layout/row_pass.h>

namespace learn {

struct StreamArguments {
    Arguments all;
    Stream stream;
};
// A row pass finds its layers among its arguments: what it takes from there is the same for all threads, to the compiler
// too, which otherwise has its products wait for each other.
struct PassArguments {
    StreamArguments with;
    RowPassLayer layers[2][most_pass_layers];    // of the policy's networks
    RowPassEnd first[2], last[2];                // where their gradient is made
};
static_assert(sizeof(PassArguments) <= 4096);
struct LastLayerArguments : StreamArguments {
    LastLayer layer[2];    // of the policy's networks
    // Of outputs alone: whose, and which rows there are, as Products says it.
    uint32_t network;
    const double* found;
    const uint8_t* present;
};
struct CellArguments {
    Arguments all;
    Stream stream;
    CellRows cell;
};

}
