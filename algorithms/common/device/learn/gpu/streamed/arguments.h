#pragma once
#include <learn/arguments.h>
#include <learn/blocked.h>

namespace learn {

struct StreamArguments {
    Arguments all;
    Stream stream;
};

}
