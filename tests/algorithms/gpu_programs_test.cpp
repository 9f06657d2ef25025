#include "algorithms/common/headers.h"
#include "algorithms/common/spec_text.h"
#include "tests/env/workbench.h"
#include "tests/support/skip.h"

#include <cstring>
#include <doctest/doctest.h>

// The programs that learners have compiled for a GPU, by NVRTC, which needs none.
using namespace nacelle;
using namespace nacelle::test;

namespace {

// What a learner would be told of an environment on a GPU.
struct Told {
    std::vector<std::byte> schema;
    nacelle_environment environment{};

    Told(Environment& env, uint32_t compute) {
        const Header& header = env.schema().header();
        const std::vector<Field>& fields = env.schema().fields();
        schema.resize(sizeof header + fields.size() * sizeof(Field));
        std::memcpy(schema.data(), &header, sizeof header);
        std::memcpy(schema.data() + sizeof header, fields.data(), fields.size() * sizeof(Field));
        environment = {.size = sizeof environment,
                       .envs = 4096,
                       .name = reinterpret_cast<const Header*>(schema.data())->name,
                       .schema = reinterpret_cast<const nacelle_schema*>(schema.data()),
                       .seed = 1,
                       .on_gpu = 1,
                       .time_limit = header.time_limit,
                       .compute = compute};
    }
};

constexpr learn::Algorithm ppo{"ppo", true, 128, 4, 4, 1e-3, 0.01},
    a2c{"a2c", false, 8, 1, 1, 1e-3, 0.01};

struct Wanted {
    const char* environment;
    learn::Algorithm algorithm;
    const char* config;
    uint32_t compute = 90;
    int planes = 1;    // of numbers on tensor cores, or none
    bool staged = false;
};

// Compiles its programs, or says why that fails.
std::string fault_of(Compiler& compiler, const Wanted& program) {
    const std::filesystem::path author = env_folder / (std::string(program.environment) + ".cu");
    Environment env(cpu(1), recommended(program.environment, 4));
    const Told told(env, program.compute);
    const learn::Settings settings =
        learn::read_settings(program.algorithm, program.config, told.environment);
    CHECK(settings.policies[0].planes == program.planes);
    CHECK(settings.policies[0].staged == program.staged);
    const learn::ProgramTexts texts =
        learn::program_texts(settings, learn::SchemaView(told.environment),
                             learn::flight_of(settings, told.environment), true);
    ProgramSource source{.author = author,
                         .headers = {},
                         .instantiation = {},
                         .defines = {},
                         .options = {"--prec-div=false"}};
    for (const EmbeddedFile& header : embedded_sdk())
        source.headers.push_back({header.name, header.text});
    for (const nacelle_header& header : learn::kernel_headers())
        source.headers.push_back({header.name, header.text});
    for (const std::string& text : {texts.update, texts.rollout, texts.rest, texts.learning}) {
        source.instantiation = text;
        const Compiled result = compiler.compile(source);
        if (const auto* const wrong = std::get_if<Diagnostics>(&result))
            return wrong->text() + wrong->raw;
    }
    return "";
}

}

TEST_CASE("the learners' programs compile for GPUs") {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("the compiler for GPUs is not instrumented: the plain build has it");
#endif
    const Wanted programs[] = {
        {"cartpole", ppo, R"({})"},
        {"cartpole", ppo, R"({"policies": {"default": {"trunk": "separate", "hidden": []}}})"},
        {"pendulum", a2c,
         R"({"policies": {"default": {"activation": "silu", "hidden": [128, 33]}}})"},
        {"pendulum", ppo,
         R"({"policies": {"default": {"precision": "f32", "deviation": "state", "squash": true}}})",
         90, 3},
        {"cartpole", ppo,
         R"({"policies": {"default": {"precision": "f32", "tensor_cores": false}}})", 90, 0},
        {"acrobot", ppo, R"({"advantage": "vtrace", "normalise_advantages": "minibatch"})"},
        {"acrobot", ppo,
         R"({"policies": {"default": {"hidden": [256, 256], "trunk": "separate"}}})", 90, 1, true},
        {"acrobot", ppo,
         R"({"policies": {"default": {"hidden": [300, 310], "activation": "relu"}}})", 90, 1, true},
        {"tag_gridworld", ppo, R"({"policies": {"runner": {"train": "random"}}})"},
        {"connect_four", ppo, R"({"policies": {"default": {"precision": "f32"}}})", 90, 0},
        {"rooms", ppo, R"({})", 90, 0},
    };
    std::unique_ptr<Compiler> compiler;
    try {
        compiler = open_nvrtc("sm_90", shared_cache());
    } catch (const Error& error) {
        NACELLE_SKIP(error.what());
    }
    for (const Wanted& program : programs) {
        CAPTURE(program.environment);
        CAPTURE(program.config);
        CHECK(fault_of(*compiler, program) == "");
    }
}

TEST_CASE("older GPUs get the programs that they can run") {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("the compiler for GPUs is not instrumented: the plain build has it");
#endif
    std::unique_ptr<Compiler> ampere, turing;
    try {
        ampere = open_nvrtc("sm_80", shared_cache());
        turing = open_nvrtc("sm_75", shared_cache());
    } catch (const Error& error) {
        NACELLE_SKIP(error.what());
    }
    CHECK(fault_of(*ampere, {"cartpole", ppo, "{}", 80}) == "");
    CHECK(fault_of(*turing, {"cartpole", ppo, "{}", 75, 0}) == "");
}
