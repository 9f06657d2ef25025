#include "engine/base/signal_stack.h"

#include <cstddef>

namespace nacelle {
namespace {

constexpr size_t signal_stack_bytes = size_t(64) << 10;

}

SignalStack::SignalStack() : bytes_(std::make_unique<char[]>(signal_stack_bytes)) {
    const stack_t own{.ss_sp = bytes_.get(), .ss_flags = 0, .ss_size = signal_stack_bytes};
    ::sigaltstack(&own, &before_);
}

SignalStack::~SignalStack() { ::sigaltstack(&before_, nullptr); }

}
