#include "engine/compile/stand_in.h"
#include "tests/env/workbench.h"

#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

// The table of fields of a text, without a program around it.
EnvSchema schema_of(RunsOn& on, const std::filesystem::path& author) {
    const Binary table =
        compile_program(on, author,
                        {.instantiation = "#include <nacelle/kernel.h>\nNACELLE_PROGRAM()\n",
                         .headers = {},
                         .defines = {}});
    return EnvSchema::read(table.elf(), author.filename().string());
}
EnvSchema schema_of(RunsOn& on, const Folder& folder, const std::string& text) {
    return schema_of(on, folder.write("some.cu", text));
}

std::string replaced(std::string text, const std::string& old, const std::string& fresh) {
    const size_t at = text.find(old);
    if (at == text.npos) throw std::runtime_error("the text has no " + old);
    return text.replace(at, old.size(), fresh);
}

}

TEST_CASE("a stand-in has the sizes of every environment that ships, and is its own stand-in") {
    const std::shared_ptr<RunsOn> on = quick_cpu();
    const Folder folder;
    for (const std::string& name : all_environments()) {
        CAPTURE(name);
        const EnvSchema schema = schema_of(*on, env_folder / (name + ".cu"));
        const std::string text = stand_in_text(schema);
        CAPTURE(text);
        const EnvSchema stand_in = schema_of(*on, folder, text);
        CHECK(stand_in_text(stand_in) == text);
        const Header &its = stand_in.header(), &real = schema.header();
        CHECK(its.has_image == real.has_image);
        CHECK(its.has_turn == real.has_turn);
        CHECK(its.agents == real.agents);
        for (uint32_t g = 0; g < real.groups; ++g) {
            CHECK(its.group[g].count == real.group[g].count);
            CHECK(its.group[g].obs_width == real.group[g].obs_width);
            CHECK(its.group[g].mask_width == real.group[g].mask_width);
            CHECK(its.group[g].action_parts == real.group[g].action_parts);
        }
        for (uint32_t p = 0; p < real.policies; ++p)
            CHECK(its.policy[p].agents == real.policy[p].agents);
    }
}

TEST_CASE("a stand-in changes with the sizes, and with nothing else") {
    const std::shared_ptr<RunsOn> on = quick_cpu();
    const Folder folder;
    const std::string cartpole = read_file(env_folder / "cartpole.cu");
    const auto of = [&](const std::string& text) {
        return stand_in_text(schema_of(*on, folder, text));
    };
    const std::string before = of(cartpole);
    CHECK(of(replaced(cartpole, "s.x_dot += p.dt * x_acc;", "s.x_dot += 2 * p.dt * x_acc;")) ==
          before);
    CHECK(of(replaced(cartpole, "float gravity = 9.8f", "float more = 1, gravity = 9.8f")) ==
          before);
    CHECK(of(replaced(cartpole, "struct State { float x,", "struct State { float more, x,")) ==
          before);
    CHECK(of(replaced(cartpole, "struct Obs { float x,", "struct Obs { float more, x,")) != before);
    CHECK(of(replaced(cartpole, "Discrete<2>", "Discrete<3>")) != before);
    // Another environment of these sizes has the same text.
    CHECK(of(R"(#include <nacelle/env.h>
struct Pond {
    struct State { float depth; };
    struct Action { nacelle::Discrete<2> dive; };
    struct Obs { float seen[4]; };
    static void reset(State& s, const nacelle::detail::None&, nacelle::Rng&) { s.depth = 0; }
    static nacelle::Outcome step(State&, const Action&, const nacelle::detail::None&, nacelle::Rng&) { return {}; }
    static Obs observe(const State& s, const nacelle::detail::None&) { return {{s.depth}}; }
};
NACELLE_ENV(Pond)
)") == before);
}

TEST_CASE("the view of a stand-in has the environment's arrays") {
    const std::shared_ptr<RunsOn> on = quick_cpu();
    const Folder folder;
    for (const char* const name : {"connect_four", "rooms"}) {
        CAPTURE(name);
        Environment env(on, recommended(name, 4));
        const EnvSchema stand_in = schema_of(*on, folder, stand_in_text(env.schema()));
        const std::vector<std::byte> view = stand_in_view(stand_in, env.schema(), env.view());
        const auto* const slots =
            reinterpret_cast<void* const*>(view.data() + stand_in.header().array_offset);
        CHECK(std::memcmp(view.data(), env.view().data(), sizeof(ViewHead)) == 0);
        for (const Field& field : stand_in.fields()) {
            if (field.role != Role::action && field.role != Role::obs && field.role != Role::mask &&
                field.role != Role::turn && field.role != Role::reward)
                continue;
            CAPTURE(field.name);
            int same = 0;
            for (const NamedArray& array : env.arrays().all())
                same += array.device() == slots[field.slot] && array.role() == field.role;
            CHECK(same == 1);
        }
    }
}
