#pragma once
#include "tests/env/workbench.h"

#include <sstream>

// Small author files made of parts, and what both compilers say of them.
namespace nacelle::test {

// A part that is "none" is left out.
inline std::string struct_text(const char* name, const std::string& fields) {
    return fields == "none"
               ? std::string()
               : "    struct " + std::string(name) +
                     (fields.starts_with(':') ? " " + fields : " { " + fields + " }") + ";\n";
}
inline std::string line_text(const std::string& text) {
    return text.empty() || text == "none" ? std::string() : "    " + text + "\n";
}

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

    std::string text() const {
        return "#include <nacelle/env.h>\n" + before + "\nstruct Probe {\n" +
               struct_text("Params", params) + struct_text("State", state) +
               struct_text("Action", action) + struct_text("Obs", obs) + line_text(reset) +
               line_text(step) + line_text(observe) + line_text(more) + "};\nNACELLE_ENV(" + name +
               ")\n";
    }
};

// The same for a team.
struct TeamParts {
    std::string before;
    std::string constants = "static constexpr int agents = 3;";
    std::string params = "float g = 1;";
    std::string state = "float x;";
    std::string agent = "float y;";
    std::string action = "nacelle::Discrete<2> go;";
    std::string obs = "float x;";
    std::string names = "using Team = nacelle::Team<Probe>; using Member = nacelle::Member<Probe>;";
    std::string reset = "static void reset(Team&, const Params&) {}";
    std::string step = "static nacelle::Ending step(Team&, const Params&) { return "
                       "nacelle::Ending::running; }";
    std::string observe =
        "static Obs observe(const Team&, const Member&, const Params&) { return {}; }";
    std::string more;

    std::string text() const {
        return "#include <nacelle/env.h>\n" + before + "\nstruct Probe {\n" + line_text(constants) +
               struct_text("Params", params) + struct_text("State", state) +
               struct_text("Agent", agent) + struct_text("Action", action) +
               struct_text("Obs", obs) + line_text(names) + line_text(reset) + line_text(step) +
               line_text(observe) + line_text(more) + "};\nNACELLE_ENV(Probe)\n";
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
// The host's compiler where nothing that it makes is run: a sanitizer build takes what the plain build's tests compiled.
inline std::unique_ptr<Compiler> uninstrumented_compiler() {
    constexpr const char* name = "NACELLE_UNINSTRUMENTED";
    const bool was_set = std::getenv(name);
    ::setenv(name, "1", 1);
    std::unique_ptr<Compiler> compiler = open_host_compiler(shared_cache());
    if (!was_set) ::unsetenv(name);
    return compiler;
}
inline std::vector<NamedCompiler> both_compilers() {
    std::vector<NamedCompiler> list;
    list.push_back({"the host's compiler", uninstrumented_compiler()});
    try {
        list.push_back({"NVRTC", open_nvrtc("sm_90", shared_cache())});
    } catch (const Error&) {
        // It is not installed; what the host's compiler says is tested all the same.
    }
    return list;
}

}
