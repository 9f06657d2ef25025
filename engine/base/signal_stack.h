#pragma once
#include <memory>
#include <signal.h>

namespace nacelle {

// While it lives, signal handlers of this thread run on a stack of their own: a recursion without end has used up
// the normal one.
class SignalStack final {
public:
    SignalStack();
    ~SignalStack();
    SignalStack(const SignalStack&) = delete;
    SignalStack& operator=(const SignalStack&) = delete;

private:
    std::unique_ptr<char[]> bytes_;
    stack_t before_{};
};

}
