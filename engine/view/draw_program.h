#pragma once
#include "engine/env/environment.h"
#include "engine/view/display_list.h"
#include "engine/view/scene.h"

namespace nacelle {

// An author's draw(), compiled for this machine's processor as a program of its own. It paints a Scene and does not
// access a running environment.
class DrawProgram final {
public:
    struct Build {
        // The constants that are set, the parameters that vary and the policies that agents are given: they decide on
        // the layout of the arrays.
        std::map<std::string, double> constants;
        std::set<std::string> varied;
        AssignedPolicies policies;
        // For scenes from untrusted recordings: a read outside an Array makes paint() throw. A read outside a plain
        // C++ array ends by a signal.
        bool checked = false;
    };

    // Throws the compiler's diagnostics as an Error.
    DrawProgram(const std::filesystem::path& source, const Build& build,
                const std::filesystem::path& cache);

    bool has_draw() const { return schema().header().has_draw != 0; }
    const EnvSchema& schema() const { return program_.schema(); }
    // Needs no device and may run beside steps, on any thread. Throws where the scene has another layout.
    DisplayList paint(const Scene& scene);

private:
    std::shared_ptr<RunsOn> host_;
    Program program_;
    Kernel draw_;
};

}
