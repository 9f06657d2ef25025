#pragma once
#include "engine/view/draw_program.h"

namespace nacelle {

// The picture of an environment: what its author's draw() paints, or its arrays where there is none. draw() is
// compiled for this machine's processor, as a program of its own, when a Drawing is created. A reload of the
// environment needs a new Drawing.
class Drawing final {
public:
    // Throws the compiler's diagnostics as an Error.
    explicit Drawing(Environment& env);

    // Whether the author has a draw().
    bool by_author() const { return program_ != nullptr; }
    // Copies what a picture of one environment needs. Waits for the environment's stream, which must not be
    // capturing.
    Scene copy(uint32_t which);
    // Needs no device and may run beside steps, on any thread.
    DisplayList paint(const Scene& scene);
    DisplayList draw(uint32_t which) { return paint(copy(which)); }

private:
    void copy_params(Scene& scene);
    void copy_tables(Scene& scene);

    Environment& env_;
    std::unique_ptr<DrawProgram> program_;
};

}
