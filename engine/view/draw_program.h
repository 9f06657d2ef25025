#pragma once
#include "engine/env/environment.h"
#include "engine/view/display_list.h"
#include "engine/view/scene.h"

namespace nacelle {

// An author's draw(), compiled for this machine's processor as a program of its own. It knows nothing of
// a running environment: what it paints is a Scene.
class DrawProgram final {
public:
    struct Build {
        // What decides on the layout of the arrays: the constants that are set, and which parameters vary.
        std::map<std::string, double> constants;
        std::set<std::string> varied;
        // For numbers that anybody may have written: where draw() would read outside, paint() throws. What
        // is outside a plain array of C++ ends by a signal.
        bool checked = false;
    };

    // Throws the compiler's diagnostics as an Error.
    DrawProgram(const std::filesystem::path& source, const Build& build,
                const std::filesystem::path& cache);

    bool has_draw() const { return schema().header().has_draw != 0; }
    const EnvSchema& schema() const { return program_.schema(); }
    // Needs no device, and may run beside steps, on any thread. Throws where the scene is of another layout.
    DisplayList paint(const Scene& scene);

private:
    std::shared_ptr<RunsOn> host_;
    Program program_;
    Kernel draw_;
};

}
