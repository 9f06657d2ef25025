// The boundary as a plugin in C sees it.
#include "engine/base/process.h"
#include "tests/plugins/bench.h"
#include "tests/support/skip.h"

#include <regex>

using namespace nacelle;
using namespace nacelle::test;

namespace {

// A file of tests/plugins/made as a shared object of C99.
std::filesystem::path compiled(const Folder& folder, const std::string& name,
                               const std::string& define = "-DNOTHING") {
    const std::filesystem::path object = folder.path() / (name + ".so");
    const ProcessResult result =
        run_process({"g++", "-x", "c", "-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror",
                     "-fPIC", "-shared", "-fvisibility=hidden", define, "-I", source_path("sdk"),
                     "-o", object, source_path("tests/plugins/made/" + name + ".c")});
    CHECK_MESSAGE(result.status == 0, result.output);
    return object;
}

// The plugin of made/plain.c with structs that are shorter (-1), those of this host, or longer.
void learn_in_c(int grown) {
    if (find_program("g++").empty()) NACELLE_SKIP("there is no g++");
    const Folder folder;
    std::vector<std::string> said;
    Plugins plugins({}, shared_cache(),
                    Log([&](LogLevel, const std::string& text) { said.push_back(text); }));
    plugins.load(compiled(folder, "plain", "-DGROWN=" + std::to_string(grown)));

    const auto on = cpu();
    Environment env(on, recommended("cartpole", 300));
    LearnerInstance learner(plugins, env, "plain", Json::object());
    CHECK(learner.steps_per_iteration() == 7 * 300);
    CHECK(learner.most_steps() == 0);
    CHECK_FALSE(learner.captures_itself());
    CHECK(learner.settings().is_null());
    CHECK(learner.policies().is_null());
    const uint64_t tick = env.tick();
    Iteration iteration(learner, *on->stream);
    for (int i = 0; i < 3; ++i) iteration.run();
    on->stream->synchronize();
    CHECK(env.tick() == tick + 6);
    CHECK(numbers(env, "plain.counts") == std::vector<double>(300, 3));
    learner.act(true);
    CHECK(numbers(env, "plain.counts") == std::vector<double>(300, 103));
    CHECK(learner.metrics() ==
          (grown < 0 ? MetricValues{} : MetricValues{{"count", 103}, {"choices", 2}}));

    SinkInstance sink(plugins, "plain", folder.path());
    sink.rewind(3);
    sink.write(4, {{"a", 1}, {"b", 2}});
    sink.flush();
    CHECK(said == std::vector<std::string>{
                      "plain: arrays/1 is for hooks and learners",
                      "plain: this host has no service 'nothing/1' (there is: environment/1, "
                      "arrays/1, kernels/1, clock/1, ranks/1, tables/1, plugins/1)",
                      "plain: 2 values at step 4"});
}

}

TEST_CASE("a plugin in C learns and writes") { learn_in_c(0); }
TEST_CASE("a plugin whose structs are shorter works, with the defaults of what it lacks") {
    learn_in_c(-1);
}
TEST_CASE("a plugin whose structs are longer works") { learn_in_c(1); }

TEST_CASE("a plugin of the boundary's first version is refused with what to do") {
    if (find_program("g++").empty()) NACELLE_SKIP("there is no g++");
    const Folder folder;
    const auto object = compiled(folder, "first_version");
    const std::string sentence =
        "is built for version 1 of the plugins' boundary, and this host speaks version 2: compile "
        "it again with the headers of this nacelle, its folder sdk/";
    CHECK(complaint([&] { plugins_of({}).load(object); }) == "first_version.so: " + sentence);
    REQUIRE(plugins_of({folder.path()}).list().size() == 1);
    CHECK(plugins_of({folder.path()}).list().front().refused == sentence);
}

TEST_CASE("each function of the boundary says on which thread and in which phases it is called") {
    const std::string text = read_file(source_path("sdk/nacelle/plugin/abi.h"));
    const std::regex function(R"((/\*(?:(?!\*/)[\s\S])*\*/)?\s*[^;{}/]*\(\*(\w+)\)\()");
    const std::regex mark(
        R"(^/\* \[(loop|any) \| (any|(create|record|running)(, (create|record|running))*)\])");
    int found = 0;
    for (std::sregex_iterator one(text.begin(), text.end(), function), end; one != end; ++one) {
        ++found;
        CHECK_MESSAGE(std::regex_search((*one)[1].str(), mark), (*one)[2].str());
    }
    size_t pointers = 0;
    for (size_t at = 0; (at = text.find("(*", at)) != text.npos; ++at) ++pointers;
    CHECK(size_t(found) == pointers);
    CHECK(found > 20);
}
