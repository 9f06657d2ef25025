#include "engine/run/checkpoint.h"

#include "engine/base/hash.h"
#include "tests/env/workbench.h"

#include <doctest/doctest.h>

using namespace nacelle;
using namespace nacelle::test;

namespace {

CheckpointRecord record_at(uint64_t steps) {
    return {.environment = "Pole",
            .learner = "search",
            .layout = 0xfedcba9876543210u,
            .spaces = 17,
            .files = {.files = {{"pole.cu", "abc"}}, .tables = {{"map", {{"data", "d"}}}}},
            .iteration = steps / 10,
            .steps = steps,
            .tick = 12345678901234u,
            .evaluation = CheckpointRecord::Score{0.1, steps},
            .best = {},
            .problem = {{"code", "c"}}};
}

std::string tensors_with(uint8_t value) {
    return safetensors_of({{.name = "x", .dtype = Dtype::u8, .shape = {1}}},
                          [&](size_t, void* target) { *static_cast<uint8_t*>(target) = value; });
}

// Changes a checkpoint's JSON and gives it a checksum that fits, as everybody can.
void change(const std::filesystem::path& path, const nlohmann::json& over) {
    nlohmann::json json = nlohmann::json::parse(read_file(path));
    json.erase("seal");
    merge_json(json, over);
    json["seal"] = Hash().add(json.dump()).hex();
    write_file(path, json.dump(2));
}

uint8_t value_in(const Checkpoint& checkpoint) { return uint8_t(checkpoint.tensors.at(0).data[0]); }

}

TEST_CASE("a checkpoint is read as it was saved") {
    const Folder folder;
    const Checkpoints checkpoints(folder.path());
    checkpoints.save(record_at(100), tensors_with(3), false);
    const Checkpoint found = Checkpoints::read(checkpoints.of_steps(100));
    CHECK(found.record.environment == "Pole");
    CHECK(found.record.layout == 0xfedcba9876543210u);
    CHECK(found.record.tick == 12345678901234u);
    CHECK(found.record.files.files == nlohmann::json{{"pole.cu", "abc"}});
    CHECK(found.record.files.tables["map"]["data"] == "d");
    CHECK(found.record.problem["code"] == "c");
    REQUIRE(found.record.evaluation);
    CHECK(found.record.evaluation->mean_return == 0.1);
    CHECK(!found.record.best);
    // A copy is as good, and outlives what it was copied from.
    auto first = std::make_unique<Checkpoint>(found);
    const Checkpoint second = *first;
    first.reset();
    CHECK(value_in(second) == 3);
}

TEST_CASE("the best checkpoint takes the place of the one before it") {
    const Folder folder;
    const Checkpoints checkpoints(folder.path());
    checkpoints.save(record_at(100), tensors_with(1), true);
    checkpoints.save(record_at(200), tensors_with(2), true);
    CHECK(value_in(Checkpoints::read(checkpoints.best())) == 2);
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 2);
    CHECK(checkpoints.list().empty());
}

TEST_CASE("only the newest checkpoints stay, and newer ones than the run's place are not counted") {
    const Folder folder;
    const Checkpoints checkpoints(folder.path());
    for (const uint64_t steps : {100, 200, 300, 2000})
        checkpoints.save(record_at(steps), tensors_with(1), false);
    checkpoints.prune(2, 300);
    std::vector<uint64_t> left;
    for (const CheckpointFile& one : checkpoints.list()) left.push_back(one.steps);
    CHECK(left == std::vector<uint64_t>{2000, 300, 200});
    CHECK(!std::filesystem::exists(folder.path() / "step-000000000000100.safetensors"));
}

TEST_CASE("every flipped bit and every cut of a checkpoint is found") {
    const Folder folder;
    const Checkpoints checkpoints(folder.path());
    checkpoints.save(record_at(100), tensors_with(3), false);
    for (const char* const kind : {".json", ".safetensors"}) {
        const auto path = checkpoints.of_steps(100).replace_extension(kind);
        const std::string whole = read_file(path);
        for (size_t i = 0; i < whole.size(); ++i) {
            std::string changed = whole;
            changed[i] = static_cast<char>(changed[i] ^ 1 << i % 8);
            write_file(path, changed);
            const bool found =
                !complaint([&] { Checkpoints::read(checkpoints.of_steps(100)); }).empty();
            // White space between the JSON's words may become another white space.
            if (!found) CHECK(nlohmann::json::parse(changed) == nlohmann::json::parse(whole));
            write_file(path, std::string_view(whole).substr(0, i));
            if (kind == std::string(".safetensors") || i + 2 < whole.size())
                CHECK(contains(complaint([&] { Checkpoints::read(checkpoints.of_steps(100)); }),
                               "damaged"));
        }
        write_file(path, whole);
    }
}

TEST_CASE("the newest whole checkpoint is taken, and each newer one is named") {
    const Folder folder;
    const Checkpoints checkpoints(folder.path());
    std::vector<std::string> told;
    const auto newest = [&] {
        told.clear();
        return checkpoints.newest([&](const std::string& why) { told.push_back(why); });
    };
    CHECK(!newest());
    for (const uint64_t steps : {100, 200, 300})
        checkpoints.save(record_at(steps), tensors_with(uint8_t(steps / 100)), false);
    CHECK(value_in(*newest()) == 3);
    folder.write("step-000000000000300.safetensors", "");
    std::filesystem::remove(folder.path() / "step-000000000000200.safetensors");
    CHECK(value_in(*newest()) == 1);
    REQUIRE(told.size() == 2);
    CHECK(contains(told[0], "000300.safetensors: is damaged: it has 0 of "));
    CHECK(contains(told[1], "000200.safetensors: does not exist"));
    // Before a byte of it is read.
    std::filesystem::resize_file(folder.path() / "step-000000000000300.safetensors", 3u << 30);
    CHECK(value_in(*newest()) == 1);
    CHECK(contains(told[0], "000300.safetensors: is damaged: it has 3221225472 of "));
    folder.write("step-000000000000100.json", "{}");
    CHECK(contains(complaint([&] { newest(); }), "no checkpoint is whole"));
}

TEST_CASE("a checkpoint under another one's name is refused, and the next one is taken") {
    const Folder folder;
    const Checkpoints checkpoints(folder.path());
    for (const uint64_t steps : {100, 200})
        checkpoints.save(record_at(steps), tensors_with(uint8_t(steps / 100)), false);
    for (const char* const kind : {".json", ".safetensors"})
        std::filesystem::rename(checkpoints.of_steps(100).replace_extension(kind),
                                checkpoints.of_steps(300).replace_extension(kind));
    const std::string reason =
        checkpoints.of_steps(300).string() + ": is named after step 300 but was saved at step 100";
    CHECK(complaint([&] { Checkpoints::read(checkpoints.of_steps(300)); }) == reason);
    std::vector<std::string> told;
    const auto found = checkpoints.newest([&](const std::string& why) { told.push_back(why); });
    REQUIRE(found);
    CHECK(found->record.steps == 200);
    CHECK(told == std::vector<std::string>{reason});
    // Nor is one the best that was not saved as that.
    std::filesystem::copy(checkpoints.of_steps(200), checkpoints.best());
    CHECK(contains(complaint([&] { Checkpoints::read(checkpoints.best()); }),
                   "best.json: is damaged: its 'tensors.file' is step-000000000000200.safetensors, "
                   "not best-step-000000000000200.safetensors"));
}

TEST_CASE("files of other names than a checkpoint's are never removed, nor taken for one") {
    const Folder folder;
    const Checkpoints checkpoints(folder.path());
    const std::vector<std::string> others = {"best-model.safetensors",
                                             "best-.safetensors",
                                             "best-step-7.safetensors",
                                             "best-step-final.safetensors",
                                             "step-final.safetensors",
                                             "step-7.safetensors",
                                             "step-7.json",
                                             "step-final.json",
                                             "step-000000000000007.txt",
                                             "step-000000000000007.json.bak",
                                             "step-000000000000007x.safetensors",
                                             "step-0000000000000007.json",
                                             "step-+00000000000007.json",
                                             "step-99999999999999999999.json",
                                             "notes.safetensors"};
    for (const std::string& name : others) folder.write(name, "somebody's");
    for (const uint64_t steps : {100, 200, 300}) {
        checkpoints.save(record_at(steps), tensors_with(1), false);
        checkpoints.save(record_at(steps), tensors_with(1), true);
    }
    folder.write("step-000000000000007.safetensors", "left by a process that was killed");
    checkpoints.tidy(1, 1000);
    checkpoints.remove_best();
    checkpoints.tidy(1, 1000);
    CHECK(checkpoints.list().size() == 1);
    for (const std::string& name : others) {
        CAPTURE(name);
        CHECK(std::filesystem::exists(folder.path() / name));
        std::filesystem::remove(folder.path() / name);
    }
    CHECK(std::distance(std::filesystem::directory_iterator(folder.path()), {}) == 2);
}

TEST_CASE("a checkpoint whose JSON is nested without end is damaged like any other") {
    const Folder folder;
    const Checkpoints checkpoints(folder.path());
    for (const size_t depth : {200, 300000}) {
        const auto path = folder.write("step-000000000000100.json",
                                       "{\"seal\":\"\",\"a\":" + std::string(depth, '[') +
                                           std::string(depth, ']') + "}");
        CHECK(complaint([&] { Checkpoints::read(path); }) ==
              path.string() + ": is damaged: it is no checkpoint's JSON");
    }
}

TEST_CASE("what leads out of the folder costs the best checkpoint nothing") {
    const Folder folder;
    const Checkpoints checkpoints(folder.path());
    checkpoints.save(record_at(100), tensors_with(1), true);
    change(checkpoints.best(),
           {{"tensors", {{"file", "../best-step-000000000000100.safetensors"}}}});
    CHECK(
        contains(complaint([&] { Checkpoints::read(checkpoints.best()); }),
                 "its 'tensors.file' is ../best-step-000000000000100.safetensors, not best-step-"));
    checkpoints.tidy(1, 100);
    CHECK(std::filesystem::exists(folder.path() / "best-step-000000000000100.safetensors"));
}

TEST_CASE("what a checkpoint with a checksum that fits says wrongly is told by its key") {
    const Folder folder;
    const Checkpoints checkpoints(folder.path());
    const auto path = checkpoints.of_steps(100);
    const std::string whole = "is no whole number from 0 to 2^62",
                      hex = "is no text of 16 hexadecimal digits";
    struct Change {
        nlohmann::json over;
        std::string key, what;
    };
    const std::vector<Change> changes = {
        {{{"format", "1"}}, "format", whole},
        {{{"format", -1}}, "format", whole},
        {{{"format", {1}}}, "format", whole},
        {{{"steps", "100"}}, "steps", whole},
        {{{"steps", -100}}, "steps", whole},
        {{{"steps", 100.5}}, "steps", whole},
        {{{"steps", 1e30}}, "steps", whole},
        {{{"steps", 18446744073709551615u}}, "steps", whole},
        {{{"iteration", nullptr}}, "iteration", whole},
        {{{"tick", -1}}, "tick", whole},
        {{{"layout", "0x1"}}, "layout", hex},
        {{{"layout", ""}}, "layout", hex},
        {{{"layout", 17}}, "layout", hex},
        {{{"spaces", "-000000000000001"}}, "spaces", hex},
        {{{"spaces", "fedcba98765432100"}}, "spaces", hex},
        {{{"environment", 7}}, "environment", "is no plain text"},
        {{{"environment", "\x1b[2J"}}, "environment", "is no plain text"},
        {{{"learner", nlohmann::json::array()}}, "learner", "is no plain text"},
        {{{"files", "x"}}, "files", "is no object of texts"},
        {{{"files", {{"pole.cu", 7}}}}, "files", "is no object of texts"},
        {{{"tables", 7}}, "tables", "is no object"},
        {{{"problem", "x"}}, "problem", "is no object"},
        {{{"evaluation", 7}}, "evaluation", "is no object"},
        {{{"evaluation", {{"return", "x"}}}}, "evaluation.return", "is no number"},
        {{{"evaluation", {{"steps", -1}}}}, "evaluation.steps", whole},
        {{{"best", nlohmann::json::object()}}, "best.return", "is missing"},
        {{{"tensors", nullptr}}, "tensors", "is no object"},
        {{{"tensors", {{"bytes", "9"}}}}, "tensors.bytes", whole},
        {{{"tensors", {{"checksum", 9}}}}, "tensors.checksum", "is no plain text"},
        {{{"tensors", {{"file", 9}}}}, "tensors.file", "is no plain text"}};
    for (const Change& one : changes) {
        CAPTURE(one.over);
        checkpoints.save(record_at(100), tensors_with(3), false);
        change(path, one.over);
        CHECK(complaint([&] { Checkpoints::read(path); }) ==
              path.string() + ": is damaged: its '" + one.key + "' " + one.what);
    }
    checkpoints.save(record_at(100), tensors_with(3), false);
    change(path, {{"format", 2}});
    CHECK(complaint([&] { Checkpoints::read(path); }) ==
          path.string() + ": is of format 2; this program reads 1");
}
