#include "engine/jit/diagnostics.h"
#include "tests/env/workbench.h"
#include "tests/fuzz/containers.h"
#include "tests/fuzz/target.h"

namespace nacelle::fuzz {
namespace {

const char* const gnu = R"(In file included from sdk/nacelle/env.h:12,
                 from unit.cpp:1:
/tmp/author.cu: In static member function 'static nacelle::Outcome Pole::step(Pole::State&)':
/tmp/author.cu:33:22: error: 'struct Pole::State' has no member named 'xdot'; did you mean 'x_dot'?
   33 |         s.x += p.dt * s.xdot;
      |                       ^~~~
sdk/nacelle/device/reflect/check.h:80:19: error: static assertion failed: State must be an aggregate
sdk/nacelle/device/reflect/check.h:80:19: note: 'false' evaluates to false
/tmp/author.cu:61:1:   required from here
/tmp/author.cu:5:1: warning: unused variable 'x' [-Wunused-variable]
cc1plus: fatal error: no room
compilation terminated.
)";
const char* const nvrtc = R"(/tmp/author.cu(33): error: class "Pole::State" has no member "xdot"
          s.x += p.dt * s.xdot;
                          ^

nacelle/device/reflect/check.h(80): error: static assertion failed with "State must be an aggregate"
          detected during:
            instantiation of class "nacelle::Check<E> [with E=Pole]"
/tmp/author.cu(61): here

/tmp/author.cu(4): warning #177-D: variable "x" was declared but never referenced

2 errors detected in the compilation of "/tmp/author.cu".
)";

// An input is what a compiler printed and what the author wrote.
class CompilerWords final : public Target {
public:
    std::vector<std::string> samples() override {
        std::vector<std::string> inputs;
        for (const char* const name : {"cartpole.cu", "mazes.cu", "tag_gridworld.cu"})
            for (const char* const output : {gnu, nvrtc, ""})
                inputs.push_back(joined(output, read_file(test::env_folder / name)));
        inputs.push_back(joined(gnu, "#if 0\nR\"(\n'\\\nNACELLE_ENV(A)\n/*"));
        return inputs;
    }

    std::string mutated(const std::string& input, const std::string& other, Dice& dice) override {
        auto [output, text] = parted(input);
        const auto [other_output, other_text] = parted(other);
        if (dice.chance(0.7)) output = mutated_text(output, other_output, dice);
        if (dice.chance(0.5)) text = mutated_text(text, other_text, dice);
        if (dice.chance(0.02)) text = output;
        return joined(output, text);
    }

    void read(const std::string& input) override {
        const auto [output, text] = parted(input);
        const std::vector<SourceFile> closure{{"/tmp/author.cu", text}};
        const CompiledText compiled{.closure = closure, .header_root = "sdk", .unit = "unit.cpp"};
        const MaskedText scanned = mask_comments(text);
        if (scanned.plain.size() != text.size() || scanned.code.size() != text.size())
            throw std::logic_error("a scanned text has another length");
        environment_uses(closure);
        check_author(closure);
        for (const std::vector<CompilerReport>& reports :
             {parse_gnu_output(output), parse_nvrtc_log(output)}) {
            diagnose(reports, output, compiled).text();
            author_warnings(reports, compiled);
        }
        line_text(text, int(output.size()));
    }
};

}

std::unique_ptr<Target> compiler_target() { return std::make_unique<CompilerWords>(); }

}
