#include "engine/run/checkpoint.h"
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
            .files = {{"pole.cu", "abc"}},
            .iteration = steps / 10,
            .steps = steps,
            .tick = 12345678901234u,
            .evaluation = CheckpointRecord::Score{0.1, steps},
            .best = {}};
}

std::string tensors_with(uint8_t value) {
    return safetensors_of({{.name = "x", .dtype = Dtype::u8, .shape = {1}}},
                          [&](size_t, void* target) { *static_cast<uint8_t*>(target) = value; });
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
    CHECK(found.record.files == nlohmann::json{{"pole.cu", "abc"}});
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
    folder.write("step-000000000000100.json", "{}");
    CHECK(contains(complaint([&] { newest(); }), "no checkpoint is whole"));
}
