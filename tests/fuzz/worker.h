#pragma once
#include "tests/fuzz/target.h"

#include <atomic>
#include <set>

#include <sys/types.h>

namespace nacelle::fuzz {

// What a worker and who watches it both see, whatever becomes of the worker: the input that is being
// read is here before it is read.
struct Shared {
    static constexpr size_t most_input = size_t(4) << 20;

    std::atomic<uint64_t> begun{0};       // inputs that reading has begun of
    std::atomic<uint64_t> began_at{0};    // milliseconds; 0 while none is read
    std::atomic<uint64_t> size{0};        // of the input
    std::atomic<uint64_t> replayed{0};    // of the inputs that were kept
    std::atomic<bool> has_escaped{false};
    char escaped[400] = {};    // the words of an exception that is no Error
    char input[most_input];
};

uint64_t milliseconds_now();

// Inputs, one after the other, until the time is over or one of them ends the process. `kept` are read
// first, as they are.
struct Work {
    Target& target;
    Shared& shared;
    const std::vector<std::string>& samples;
    const std::vector<std::string>& kept;
    const std::set<std::string>& known;    // findings, as key_of() has them
    uint64_t seed;
    uint64_t until;    // milliseconds
};
// What makes two findings one: exceptions that are known already end no worker, and where a stack
// overflows is a matter of chance.
inline std::string key_of(const std::string& why) {
    const std::string overflow = "stack-overflow";
    const size_t at = why.find(overflow);
    return at == why.npos ? why.substr(0, 130) : overflow;
}
inline std::string escape_words(const std::string& words) {
    return "lets an exception out: " + words;
}
[[noreturn]] void work(const Work& work);

// The limits under which a worker lives.
inline constexpr uint64_t most_memory = uint64_t(2) << 30, most_milliseconds = 10000;
// Its exit status where an exception escaped that is no Error.
inline constexpr int escaped_status = 77;

}
