#pragma once

namespace nacelle {

// A file inside this binary, written by tools/build/embed.py: its name relative to its folder, and its text.
struct EmbeddedFile {
    const char* name;
    const char* text;
};

}
