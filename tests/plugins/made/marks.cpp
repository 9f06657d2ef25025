// Leaves a file when it is opened. What it offers is of a revision and a kind of another day.
#include <cstdio>
#include <cstdlib>
#include <nacelle/plugin/manifest.h>

namespace {

__attribute__((constructor)) void leave_mark() {
    const char* const path = std::getenv("NACELLE_TEST_MARK");
    if (!path) return;
    if (std::FILE* const file = std::fopen(path, "w")) std::fclose(file);
}

struct LaterSink {
    static constexpr const char* kind = "sink/2";
    static constexpr const char* name = "later";
    static const void* table() { return nullptr; }
};
struct Viewer {
    static constexpr const char* kind = "viewer/1";
    static constexpr const char* name = "window";
    static const void* table() { return nullptr; }
};

}

NACELLE_PLUGIN("test.marks", "1", "Leaves a mark when it is opened", LaterSink, Viewer)
