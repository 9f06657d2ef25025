#include "algorithms/policy_gradient/plan/headers.h"
#include "algorithms/policy_gradient/plan/tensor_fit.h"
#include "engine/compile/stand_in.h"
#include "engine/env/policy_settings.h"
#include "tests/algorithms/told.h"
#include "tests/support/skip.h"
#include "tests/support/thorough.h"

#include <doctest/doctest.h>

// The programs that learners have compiled for a GPU, by NVRTC, which needs none.
using namespace nacelle;
using namespace nacelle::test;

namespace {

constexpr learn::Algorithm ppo{"ppo", true, 128, 4, 4, 1e-3, 0.01},
    a2c{"a2c", false, 8, 1, 1, 1e-3, 0.01},
    elsewhere{"torch_ppo", true, 128, 4, 4, 1e-3, 0.01, true};

const std::filesystem::path test_envs = source_path("tests/algorithms/environments");
constexpr const char* convolutions =
    R"({"policies": {"default": {"hidden": [{"conv": 16, "size": 3}, {"conv": 32, "size": 3}, 64]}}})";

struct Wanted {
    const char* environment;
    learn::Algorithm algorithm;
    const char* config;
    uint32_t compute = 90;
    int planes = 1;    // of numbers on tensor cores, or none
    bool streamed = false;
    const char* policies = "{}";    // env.policies
    uint32_t ranks = 1, peers = 0;
};

// How NVRTC takes a program: as a run does, with less optimisation, which refuses nothing and takes half of the time, or as a
// draft of what a save compiles.
enum class As { optimised, quick, draft };

// Compiles its programs; says why that fails.
std::string fault_of(Compiler& compiler, const Wanted& program, As as = As::quick) {
    const bool drafts = as == As::draft;
    const std::string file = std::string(program.environment) + ".cu";
    const bool of_tests = std::filesystem::exists(test_envs / file);
    const std::filesystem::path author = (of_tests ? test_envs : env_folder) / file;
    EnvSettings own = of_tests ? settings_of({{"source", author.string()}, {"count", 4}}, 1)
                               : recommended(program.environment, 128);
    own.policies = read_policies(Config(parse_json(program.policies, "policies"), "policies"));
    Environment env(cpu(1), own);
    Told told(env, program.compute);
    if (std::string(program.config).find("opponents") != std::string::npos) {
        const bool four = env.schema().header().agents == 2;
        told.has_blocks(four ? 64 : 128, four ? 2 : 8, 27000);
    }
    const Understood learner(program.algorithm, program.config, told, program.ranks, program.peers);
    const learn::Settings& settings = learner.settings;
    CHECK(settings.policies[0].planes == program.planes);
    CHECK(settings.policies[0].streamed() == program.streamed);
    const learn::ProgramTexts texts = learn::program_texts(
        settings, learner.plan, learn::Plan::of_draft(settings, learner.shapes, told.environment));
    ProgramSource source{.author = author,
                         .headers = {},
                         .instantiation = {},
                         .defines = {},
                         .options = {"--prec-div=false"},
                         .draft = drafts};
    if (as == As::quick) source.options.push_back("--Ofast-compile=mid");
    for (const EmbeddedFile& header : embedded_sdk())
        source.headers.push_back({header.name, header.text});
    for (const nacelle_header& header : learn::kernel_headers())
        source.headers.push_back({header.name, header.text});
    const Folder folder;
    const std::filesystem::path sizes = folder.write("sizes.cu", stand_in_text(env.schema()));
    const auto fault = [&](const std::filesystem::path& around, const std::string& text) {
        source.author = around;
        source.defines = learn::program_defines(settings);
        if (around == author)
            for (const std::string& define : policy_defines(own.policies, "policies"))
                source.defines.push_back(define);
        source.instantiation = text;
        const Compiled result = compiler.compile(source);
        const auto* const wrong = std::get_if<Diagnostics>(&result);
        return wrong ? wrong->text() + wrong->raw : "";
    };
    std::string faults;
    for (size_t i = 0; i < texts.size(); ++i)
        if (!texts[i].empty() && (!drafts || learn::has_author(learn::Program(i))))
            faults += fault(learn::has_author(learn::Program(i)) ? author : sizes, texts[i]);
    return faults;
}

// The first one as a run compiles it, the others quickly.
void hold_programs(const std::vector<Wanted>& programs) {
    std::unique_ptr<Compiler> compiler;
    try {
        compiler = open_nvrtc("sm_90a", shared_cache());
    } catch (const Error& error) {
        NACELLE_SKIP(error.what());
    }
    for (const Wanted& program : programs) {
        CAPTURE(program.environment);
        CAPTURE(program.config);
        CHECK(fault_of(*compiler, program,
                       &program == programs.data() ? As::optimised : As::quick) == "");
    }
}

}

TEST_CASE("the learners' programs compile for GPUs" * test::thorough()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("the compiler for GPUs is not instrumented: the plain build has it");
#endif
    // A program of each kind of kernel.
    hold_programs({
        {"cartpole", ppo, R"({})"},
        {"pursuit_swarm", a2c,
         R"({"advantage": "vtrace", "policies": {"default": {"hidden": [{"mingru": 64}]}}})", 90, 1,
         true, "{}", 2},
        {"cartpole", ppo, R"({"policies": {"default": {"hidden": [256, 256]}}})", 90, 1, true, "{}",
         8, 1},
        {"cartpole", ppo,
         R"({"policies": {"default": {"precision": "f32", "hidden": [{"mingru": 33}, {"gru": 64}]}}})",
         90, 3, true},
        {"pendulum", a2c,
         R"({"advantage": "vtrace", "normalise_advantages": "minibatch",
             "policies": {"default": {"activation": "silu", "hidden": [128, 33]}}})"},
        {"tag_gridworld", ppo, R"({"policies": {"runner": {"train": "random"}}})", 90, 1, false,
         R"({"even": [0, 2], "odd": [1, 3], "runner": 4})"},
        {"connect_four", ppo,
         R"({"policies": {"default": {"opponents": {"pool": 32}, "hidden": [64, 64]}}})"},
        {"acrobot", ppo,
         R"({"policies": {"default": {"precision": "f32", "hidden": [300, 170], "activation": "gelu"}}})",
         90, 2, true},
        {"screen", ppo,
         R"({"policies": {"default": {"precision": "f32", "trunk": "separate", "activation": "silu",
             "hidden": [{"one_hot": 5}, {"conv": 33, "size": [3, 2], "stride": 2, "padding": 1},
                        {"conv": 8, "size": 2}, 128]}}})",
         90, 3, true},
        {"screen", ppo,
         R"({"advantage": "vtrace", "policies": {"default":
             {"hidden": [{"conv": 16, "size": 3}, {"conv": 32, "size": 3}, {"mingru": 64}]}}})",
         90, 1, true},
        {"levers", a2c,
         R"({"advantage": "vtrace", "policies": {"default": {"precision": "f32", "hidden": [17],
             "critic": {"sees": ["global", "team", "own"], "hidden": [33, 9]}}}})",
         90, 3, false, "{}", 2},
        // What is kept in bf16 of many numbers, and of few that warps and blocks see in one launch.
        {"crowd", a2c, R"({"advantage": "vtrace", "policies": {"default": {"hidden": [32, 32]}}})",
         90, 1, false, "{}", 2},
        {"tag_gridworld", elsewhere,
         R"({"advantage": "vtrace", "policies": {"runner": {"train": "random"}, "tagger": {"hidden": [{"gru": 8}]}}})",
         90, 0},
    });
}
TEST_CASE("the learners' programs compile for GPUs in more forms" * test::by_name()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("the compiler for GPUs is not instrumented: the plain build has it");
#endif
    hold_programs({
        {"cartpole", ppo,
         R"({"normalise_advantages": "minibatch", "shards": 8, "ordered_sums": true})", 90, 1,
         false, "{}", 4},
        // Gradients in one step, and in two by layers.
        {"cartpole", ppo, R"({"normalise_advantages": "minibatch"})", 90, 1, false, "{}", 2, 1},
        {"cartpole", ppo,
         R"({"policies": {"default": {"trunk": "separate", "hidden": [{"mingru": 64}, {"gru": 33}]}}})",
         90, 1, true},
        {"cartpole", ppo, R"({"policies": {"default": {"trunk": "separate", "hidden": []}}})"},
        {"pendulum", ppo,
         R"({"policies": {"default": {"precision": "f32", "deviation": "state", "squash": true}}})",
         90, 3},
        {"acrobot", ppo,
         R"({"policies": {"default": {"hidden": [256, 310], "trunk": "separate", "activation": "relu"}}})",
         90, 1, true},
        {"cartpole", ppo,
         R"({"policies": {"default": {"execution": "streamed", "hidden": [512, 512], "trunk": "separate"}}})",
         90, 1, true},
        {"connect_four", ppo,
         R"({"policies": {"default": {"opponents": {}, "hidden": [256, 256], "trunk": "separate"}}})",
         90, 1, true},
        {"tag_gridworld", a2c, R"({"policies": {"default": {"opponents": {"sample": "hard"}}}})"},
        {"levers", ppo,
         R"({"policies": {"default": {"hidden": [{"gru": 64}],
             "critic": {"sees": ["global", "own"], "hidden": [256, 256]}}}})",
         90, 1, true},
        {"overseen", ppo,
         R"({"policies": {"default": {"critic": {"sees": ["global"], "execution": "streamed"}}}})"},
        // Images, and no number before them.
        {"picture", ppo, "{}"},
        {"lookouts", a2c, R"({"policies": {"default": {"hidden": [256, 256]}}})", 90, 1, true},
        {"crowd", ppo, R"({"policies": {"default": {"hidden": [256, 256]}}})", 90, 1, true},
        {"levers", ppo,
         R"({"kept_observations": "bf16", "policies": {"default": {"hidden": [17],
             "critic": {"sees": ["global", "team", "own"], "hidden": [33, 9]}}}})"},
        {"cartpole", elsewhere, R"({"normalise_advantages": "minibatch"})", 90, 0},
        {"connect_four", elsewhere, "{}", 90, 0},
        {"screen", elsewhere, "{}", 90, 0},
    });
}

TEST_CASE("blocks of an update share a multiprocessor where their registers and memory let them") {
    const auto resident = [](const std::vector<int64_t>& widths, int planes) {
        return learn::TensorFit(widths, planes, false).resident;
    };
    CHECK(resident({6, 32, 32, 6}, 1) == 3);
    CHECK(resident({21, 32, 32, 6}, 1) == 3);
    CHECK(resident({4, 64, 64, 3}, 1) == 2);
    CHECK(resident({4, 64, 64, 3}, 3) == 1);
}

TEST_CASE("what carries the author's code compiles as a draft for GPUs") {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("the compiler for GPUs is not instrumented: the plain build has it");
#endif
    std::unique_ptr<Compiler> compiler;
    try {
        const auto place = cache_place().string() + "-drafts";    // it has nothing in full
        compiler = open_nvrtc("sm_90a", std::make_shared<Cache>(place));
    } catch (const Error& error) {
        NACELLE_SKIP(error.what());
    }
    CHECK(fault_of(*compiler, {"cartpole", ppo, "{}"}, As::draft) == "");
    CHECK(fault_of(*compiler, {"tag_gridworld", ppo, "{}"}, As::draft) == "");
}

TEST_CASE("how a run of version 0.1 went through its layers is understood") {
    Environment env(cpu(1), recommended("cartpole", 4));
    const Told told(env, 90);
    const auto execution = [&](const std::string& staged) {
        const std::string config = R"({"policies": {"default": {"staged": )" + staged + "}}}";
        return learn::read_settings(ppo, config, told.environment).policies[0].execution;
    };
    CHECK(execution("true") == "streamed");
    CHECK(execution("false") == "fused");
}

TEST_CASE("a model that is none of layers computes in f32, and takes no settings of layers") {
    Environment env(cpu(1), recommended("pendulum", 4));
    const Told told(env, 90);
    const auto read = [&](const std::string& more) {
        const auto describe = [](learn::PolicySettings& policy, const nacelle_environment&) {
            policy.own.weights = {1};
        };
        return learn::read_settings(elsewhere, R"({"policies": {"default": {)" + more + "}}}",
                                    told.environment, {sizeof(nacelle_ranks), 0, 1}, describe);
    };
    const std::string model = R"("model": {"name": "mine"})";
    CHECK(read("").policies[0].precision == "bf16");
    const learn::Settings found = read(model);
    CHECK(found.policies[0].precision == "f32");
    for (const char* const key : {"activation", "trunk", "gains", "deviation"})
        CHECK(found.resolved.find(key) == std::string::npos);
    CHECK_THROWS_WITH(read(model + R"(, "precision": "bf16")"),
                      "policies.default.precision: a \"model\" computes with the numbers that it "
                      "was made with, f32");
    for (const std::string set : {R"("activation": "relu")", R"("trunk": "separate")",
                                  R"("gains": {})", R"("initial_deviation": 2)"})
        CHECK_THROWS_WITH(read(model + ", " + set),
                          ("policies.default." + set.substr(1, set.find(':') - 2) +
                           ": is of layers, and the policy has a \"model\"; this would change "
                           "nothing")
                              .c_str());
}

TEST_CASE("a GPU without tensor cores for bfloat16 is refused in a sentence") {
    Environment env(cpu(1), recommended("cartpole", 4));
    const Told told(env, 75);
    CHECK_THROWS_WITH(
        learn::read_settings(ppo, "{}", told.environment),
        "networks need tensor cores for bfloat16, of capability 8.0 or above; this GPU "
        "has 7.5, and a CPU trains the same networks");
}

TEST_CASE("older GPUs get the programs that they can run" * test::thorough()) {
#ifdef NACELLE_SANITIZE
    NACELLE_SKIP("the compiler for GPUs is not instrumented: the plain build has it");
#endif
    std::unique_ptr<Compiler> ampere;
    try {
        ampere = open_nvrtc("sm_80", shared_cache());
    } catch (const Error& error) {
        NACELLE_SKIP(error.what());
    }
    CHECK(fault_of(*ampere, {"cartpole", ppo, "{}", 80}) == "");
    CHECK(fault_of(*ampere, {"screen", ppo, convolutions, 80, 1, true}) == "");
}

TEST_CASE(
    "a pool of past policies is refused where shards are not of whole groups of environments, and "
    "by learners on LibTorch") {
    Environment env(cpu(1), recommended("connect_four", 128));
    const Told told(env, 90);
    const auto fault = [&](const learn::Algorithm& algorithm, uint32_t ranks,
                           const std::string& more = "",
                           const std::string& setting = R"("opponents": {"pool": 4})") {
        const std::string config = R"({"policies": {"default": {)" + setting + "}}" + more;
        try {
            learn::read_settings(algorithm, config + "}", told.environment,
                                 {sizeof(nacelle_ranks), 0, ranks});
        } catch (const std::exception& error) {
            return std::string(error.what());
        }
        return std::string();
    };
    const std::string whole = "policies.agent.opponents: 32 environments of a shard; with a pool "
                              "expected a multiple of 64 in several ranks or shards";
    CHECK(fault(ppo, 1) == "");
    CHECK(fault(a2c, 1) == "");
    CHECK(fault(ppo, 2) == "");
    CHECK(fault(ppo, 1, R"(, "shards": 2)") == "");
    CHECK(fault(ppo, 2, R"(, "shards": 256)") == whole);
    CHECK(fault(ppo, 1, R"(, "shards": 128)") == whole);
    CHECK(fault(elsewhere, 1) ==
          "policies.agent.opponents: learners on LibTorch have no pool of past policies so far; "
          "'ppo' and 'a2c' have one, and \"opponents\": false does without");
    const std::string without = R"("opponents": {}}, "agent": {"opponents": false)";
    CHECK(fault(elsewhere, 1, "", without) == "");
    CHECK(fault(ppo, 2, "", without) == "");
}
