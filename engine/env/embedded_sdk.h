#pragma once
#include <span>

namespace nacelle {

// A header of the SDK as this binary carries it: its name as included, "nacelle/env.h", and its text.
struct EmbeddedHeader {
    const char* name;
    const char* text;
};

// Every header of the SDK, sorted by name; the texts live as long as the program.
std::span<const EmbeddedHeader> embedded_sdk();

}
