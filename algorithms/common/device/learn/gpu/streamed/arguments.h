#pragma once
#include <learn/arguments.h>
#include <learn/blocked.h>

namespace learn {

struct StreamArguments {
    Arguments all;
    Stream stream;
};
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
