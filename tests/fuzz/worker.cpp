#include "tests/fuzz/worker.h"

#include "engine/base/error.h"
#include "engine/base/text.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <unistd.h>

namespace nacelle::fuzz {
namespace {

constexpr size_t most_grown = 128, most_grown_bytes = size_t(1) << 16;

void escape(const Work& work, const std::string& words) {
    Shared& shared = work.shared;
    std::snprintf(shared.escaped, sizeof shared.escaped, "%s", printable(words).c_str());
    if (work.known.contains(key_of(escape_words(shared.escaped)))) return;
    shared.has_escaped = true;
    ::_exit(escaped_status);
}

// Whether the engine took it; an Error is a refusal.
bool read_one(const Work& work, const std::string& input) {
    Shared& shared = work.shared;
    const size_t size = std::min(input.size(), Shared::most_input);
    std::memcpy(shared.input, input.data(), size);
    shared.size = size;
    ++shared.begun;
    shared.began_at = milliseconds_now();
    bool taken = false;
    try {
        work.target.read(input);
        taken = true;
    } catch (const Error&) {
        // What is wrong was told.
    } catch (const std::exception& wrong) {
        escape(work, wrong.what());
    } catch (...) {
        escape(work, "an exception of no known type");
    }
    shared.began_at = 0;
    return taken;
}

}

uint64_t milliseconds_now() {
    using namespace std::chrono;
    return uint64_t(duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count());
}

void work(const Work& work) {
    for (size_t i = work.shared.replayed; i < work.kept.size(); ++i) {
        ++work.shared.replayed;
        read_one(work, work.kept[i]);
    }
    std::vector<std::string> inputs = work.samples;
    const size_t own = inputs.size();
    for (const std::string& sample : work.samples) read_one(work, sample);
    Dice dice(work.seed);
    while (milliseconds_now() < work.until) {
        const std::string &from = inputs[dice.index(inputs.size())],
                          &other = inputs[dice.index(inputs.size())];
        std::string input = work.target.mutated(from, other, dice);
        const bool taken = read_one(work, input);
        // What was taken in spite of a mutation leads further.
        if (!taken || input.size() > most_grown_bytes || !dice.chance(0.1)) continue;
        if (inputs.size() < own + most_grown) inputs.push_back(std::move(input));
        else inputs[own + dice.index(most_grown)] = std::move(input);
    }
    ::_exit(0);
}

}
