#pragma once
#include <chrono>
// LibTorch's wheel has the library Gloo in it and none of its headers, which its own process group includes. What that
// needs of them to be compiled is declared here and in the files beside this one; nothing of it is used by value.

namespace gloo {
class Context {
public:
    void setTimeout(std::chrono::milliseconds timeout);
};
}
