#pragma once
#include "tests/env/workbench.h"

#include <sstream>

// Small author files made of parts, and what both compilers say of them.
namespace nacelle::test {

// A sound environment; a test replaces the part that it is about.
struct Parts {
    std::string before;
    std::string params = "float g = 1;";
    std::string state = "float x;";
    std::string action = "nacelle::Discrete<2> go;";
    std::string obs = "float x;";
    std::string reset = "static void reset(State&, const Params&, nacelle::Rng&) {}";
    std::string step = "static nacelle::Outcome step(State&, const Action&, const Params&, "
                       "nacelle::Rng&) { return {.reward = 1.0f}; }";
    std::string observe = "static Obs observe(const State&, const Params&) { return {}; }";
    std::string more;
    std::string name = "Probe";

    // A part that is "none" is left out.
    std::string text() const {
        const auto part = [](const char* name, const std::string& fields) {
            return fields == "none"
                       ? std::string()
                       : "    struct " + std::string(name) +
                             (fields.starts_with(':') ? " " + fields : " { " + fields + " }") +
                             ";\n";
        };
        const auto line = [](const std::string& function) {
            return function.empty() || function == "none" ? std::string()
                                                          : "    " + function + "\n";
        };
        return "#include <nacelle/env.h>\n" + before + "\nstruct Probe {\n" +
               part("Params", params) + part("State", state) + part("Action", action) +
               part("Obs", obs) + line(reset) + line(step) + line(observe) + line(more) +
               "};\nNACELLE_ENV(" + name + ")\n";
    }
};

// The line that a text names with a comment /*here*/, or else that of NACELLE_ENV.
inline int expected_line(const std::string& text) {
    const size_t here = text.find("/*here*/"),
                 place = here != text.npos ? here : text.find("NACELLE_ENV");
    return 1 + int(std::count(text.begin(), text.begin() + std::ptrdiff_t(place), '\n'));
}

// The compilers that are here, by name.
struct NamedCompiler {
    std::string name;
    std::unique_ptr<Compiler> compiler;
};
inline std::vector<NamedCompiler> both_compilers() {
    std::vector<NamedCompiler> list;
    list.push_back({"the host's compiler", open_host_compiler(shared_cache())});
    try {
        list.push_back({"NVRTC", open_nvrtc("sm_90", shared_cache())});
    } catch (const Error&) {
        // It is not installed; what the host's compiler says is tested all the same.
    }
    return list;
}

}
