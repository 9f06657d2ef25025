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
};
struct CellArguments {
    Arguments all;
    Stream stream;
    CellRows cell;
};

}
