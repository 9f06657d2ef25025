#pragma once
#include <learn/arguments.h>
#include <learn/blocked.h>

namespace learn {

struct StreamArguments {
    Arguments all;
    Stream stream;
};
struct CellArguments {
    Arguments all;
    Stream stream;
    CellRows cell;
};

}
