#pragma once

namespace nacelle {

// A file that this binary carries, as tools/build/embed.py writes it: its name below the folder it comes from,
// and its text, which lives as long as the program.
struct EmbeddedFile {
    const char* name;
    const char* text;
};

}
