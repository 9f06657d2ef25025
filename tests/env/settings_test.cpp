#include "engine/env/find_environment.h"
#include "tests/env/authors.h"
#include "tests/env/workbench.h"

#include <doctest/doctest.h>

// What a user may get wrong around an environment, and what is said of it.
using namespace nacelle;
using namespace nacelle::test;

namespace {

std::string words_for(const Json& env) {
    return complaint([&] { Environment(cpu(1), settings_of(env)); });
}
void check_words(const Json& env, const std::string& wanted) {
    const std::string words = words_for(env);
    CHECK_MESSAGE(contains(words, wanted), words);
}

}

TEST_CASE("an environment is found by its name or by a path") {
    CHECK(find_environment("cartpole", {env_folder}) == env_folder / "cartpole.cu");
    CHECK(find_environment((env_folder / "cartpole.cu").string(), {}) ==
          env_folder / "cartpole.cu");
}

TEST_CASE("a name stands for the file of the first folder that has it") {
    const Folder here, there;
    here.write("pole.cu", "");
    there.write("pole.cu", "");
    there.write("pond.cu", "");
    const std::vector<std::filesystem::path> folders = {here.path(), there.path()};
    CHECK(find_environment("pole", folders) == here.path() / "pole.cu");
    CHECK(find_environment("pond", folders) == there.path() / "pond.cu");
    CHECK(files_of_name("pole", folders) ==
          std::vector{here.path() / "pole.cu", there.path() / "pole.cu"});
    CHECK(files_of_name("./pole.cu", folders).empty());
    CHECK(complaint([&] { find_environment("pnd", folders); }) ==
          "pnd: there is no such environment in " + here.path().string() + " or " +
              there.path().string() + " (did you mean 'pond'?)");
}

TEST_CASE("a source that is no environment is refused with the reason") {
    const Folder folder;
    const std::string place = folder.path().string() + "/";
    check_words({{"source", ""}}, "no environment is named");
    check_words({{"source", "cartpool"}}, "there is no such environment");
    check_words({{"source", "cartpool"}}, "cartpole");
    check_words({{"source", place + "nowhere.cu"}}, "no such file");
    check_words({{"source", place}}, "is a directory, not an environment");
    check_words({{"source", folder.write("empty.cu", "")}}, "the file is empty");
    check_words({{"source", folder.write("blank.cu", " \n\n\t\n")}}, "the file is empty");
    check_words({{"source", folder.write("noise.cu", std::string("\x7f"
                                                                 "ELF\0\1\2\377",
                                                                 8))}},
                "this is no text: it has NUL bytes");
    check_words({{"source", folder.write("none.cu", "#include <nacelle/env.h>\nstruct A {};\n")}},
                "the file has no NACELLE_ENV(Name)");
    check_words({{"source", folder.write("two.cu", std::string(signals) + draws)}},
                "the file has two environments: Signals and Draws");
    std::filesystem::create_directory(folder.path() / "folder.cu");
    check_words({{"source", place + "folder.cu"}}, "is a directory, not an environment");
}

TEST_CASE("a syntax error is shown with its file, its line and that line") {
    const Folder folder;
    std::string text = signals;
    const size_t at = text.find("++s.steps;");
    text.replace(at, 10, "++s.steps");
    const std::string words = words_for({{"source", folder.write("broken.cu", text)}});
    CHECK_MESSAGE(contains(words, "broken.cu:"), words);
    CHECK_MESSAGE(contains(words, "expected ';'"), words);
    CHECK_MESSAGE(contains(words, " | "), words);
}

TEST_CASE("a count that cannot be is refused") {
    check_words({{"source", "cartpole"}, {"count", 0}}, "env.count");
    check_words({{"source", "cartpole"}, {"count", -5}}, "env.count");
    check_words({{"source", "cartpole"}, {"count", 2.5}}, "env.count");
    check_words({{"source", "cartpole"}, {"count", "many"}}, "env.count");
    check_words({{"source", "cartpole"}, {"count", 1e12}}, "env.count");
    check_words({{"source", "cartpole"}, {"levels", -1}}, "env.levels");
    check_words({{"source", "cartpole"}, {"cuont", 3}}, "count");
}

TEST_CASE("a constant is a number, or true or false") {
    const Json constants = {{"wide", true}, {"narrow", false}, {"width", 5}, {"height", 0.25}};
    const EnvSettings settings = settings_of({{"source", "cartpole"}, {"constants", constants}});
    CHECK(settings.constants == std::map<std::string, double>{
                                    {"height", 0.25}, {"narrow", 0}, {"wide", 1}, {"width", 5}});
    check_words({{"source", "cartpole"}, {"constants", {{"width", "no"}}}},
                "env.constants.width: expected a number, true or false, found \"no\"");
    check_words({{"source", "cartpole"}, {"constants", {{"width", {1, 2}}}}},
                "env.constants.width: expected a number, true or false, found");
    check_words({{"source", "cartpole"}, {"constants", {{"width", nullptr}}}},
                "env.constants.width: expected a number, true or false, found");
    Environment env(cpu(1), settings_of({{"source", "tag_gridworld"},
                                         {"count", 2},
                                         {"constants", {{"observe_all", false}}}}));
    CHECK(env.schema().header().group[0].obs_width == 6);
}

TEST_CASE("strict arithmetic is off unless the configuration asks for it, with true or false") {
    CHECK_FALSE(settings_of({{"source", "cartpole"}}).strict);
    CHECK(settings_of({{"source", "cartpole"}, {"strict", true}}).strict);
    CHECK_FALSE(settings_of({{"source", "cartpole"}, {"strict", false}}).strict);
    check_words({{"source", "cartpole"}, {"strict", 1}}, "env.strict");
    check_words({{"source", "cartpole"}, {"strikt", true}}, "strict");
}

TEST_CASE("more environments than fit are refused with the number that fits") {
    const Folder folder;
    std::string text = signals;
    text.replace(text.find("int steps; };"), 13,
                 "int steps; nacelle::Array<double, 1000, 1000> map; };");
    text.replace(text.find("s = {rng.uniform(), 0};"), 23, "s.value = rng.uniform(); s.steps = 0;");
    const Json env = {{"source", folder.write("large.cu", text)}, {"count", 1 << 28}};
    const std::string words = words_for(env);
    CHECK_MESSAGE(contains(words, "env.count: Signals takes 8000"), words);
    CHECK_MESSAGE(contains(words, "bytes per environment; 268435456 of them are"), words);
    CHECK_MESSAGE(contains(words, "at most "), words);
    CHECK_MESSAGE(contains(words, " fit"), words);
}

TEST_CASE("a parameter that is not there, or of another type, is refused with its path") {
    const Folder folder;
    const std::string source = folder.write("draws.cu", draws);
    const auto check = [&](const Json& params, const std::string& wanted) {
        check_words({{"source", source}, {"count", 2}, {"params", params}}, wanted);
    };
    check_words({{"source", "cartpole"}, {"params", {{"gravty", 3}}}},
                "run.json: env.params.gravty: CartPole has no parameter 'gravty'");
    check_words({{"source", "cartpole"}, {"params", {{"gravty", 3}}}}, "gravity");
    check({{"numbr", {{"uniform", {1, 2}}}}}, "Draws has no parameter 'numbr'");
    check({{"nested", {{"z", 1}}}}, "env.params.nested.z");
    check({{"nested", 3}}, "env.params.nested");
    check({{"number", "fast"}}, "env.params.number: expected a number, found \"fast\"");
    check({{"number", nullptr}}, "env.params.number: expected a number, found null");
    check({{"number", {1, 2}}}, "env.params.number: expected one number, found [1,2]");
    check({{"number", 1e39}}, "env.params.number: 1e+39 does not fit in f32");
    check({{"whole", 1.5}}, "env.params.whole: expected a whole number, found 1.5");
    check({{"whole", 5e9}}, "does not fit in i32");
    check({{"byte", 256}}, "env.params.byte: 256 does not fit in u8");
    check({{"byte", -1}}, "env.params.byte: -1 does not fit in u8");
    check({{"flag", 1}}, "env.params.flag: expected true or false, found 1");
    check({{"list", {1, 2}}}, "env.params.list: expected a number or 3 of them, found [1,2]");
    check({{"list", {1, 2, "x"}}}, "env.params.list.2: expected a number, found \"x\"");
    check({{"number", {{"uniform", {2}}}}},
          "env.params.number.uniform: expected [low, high], found [2]");
    check({{"number", {{"uniform", {4, 2}}}}}, "low is above high");
    check({{"number", {{"log_uniform", {0, 2}}}}}, "both bounds must be above 0");
    check({{"number", {{"normal", {0, -1}}}}}, "the deviation is negative");
    check({{"number", {{"choice", Json::array()}}}}, "expected 1 to 16 values, found 0");
    check({{"number", {{"unifrom", {1, 2}}}}}, "env.params.number");
    check_words({{"source", source}, {"params", 3}}, "env.params");
}

TEST_CASE("a constant that the file does not have is refused with the nearest one") {
    const Folder folder;
    const std::string source = folder.write("draws.cu", draws);
    check_words({{"source", source}, {"constants", {{"widht", 3}}}},
                "env.constants.widht: draws.cu has no constant 'widht'");
    check_words({{"source", source}, {"constants", {{"widht", 3}}}}, "width");
    check_words({{"source", source}, {"constants", {{"width", "wide"}}}}, "env.constants.width");
    check_words({{"source", "cartpole"}, {"constants", {{"width", 3}}}},
                "cartpole.cu has no constant 'width'");
}

TEST_CASE("environments that do not exist cannot be reset") {
    Environment env(cpu(), recommended("cartpole", 4));
    const std::string words = complaint([&] { env.reset(std::vector<uint32_t>{1, 4}); });
    CHECK_MESSAGE(contains(words, "there is no environment 4"), words);
    CHECK_MESSAGE(contains(words, "there are 0 to 3"), words);
    const auto before = bytes_of(env.arrays()["state.x"]);
    env.reset(std::span<const uint32_t>());
    CHECK(bytes_of(env.arrays()["state.x"]) == before);
    env.reset(std::vector<uint32_t>{2});
    CHECK(bytes_of(env.arrays()["state.x"]) != before);
    CHECK(contains(complaint([&] { env.arrays()["state.y"]; }), "state.x"));
}
