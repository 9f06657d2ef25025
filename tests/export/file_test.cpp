#include "engine/export/c_policy.h"
#include "engine/export/onnx_policy.h"
#include "engine/export/policy_file.h"
#include "engine/export/protobuf.h"
#include "tests/policy/saved.h"

using namespace nacelle;
using namespace nacelle::test;

namespace {

OpenedPolicy pilot(const Json& told = gears_and_push()) {
    const SavedRun run(Json{{"pilot", told}});
    run.save(40, true);
    return open_policy(Checkpoints::read(run.checkpoints().best()), "");
}
std::string refused_file(const Folder& folder, const std::string& name, const std::string& bytes) {
    const std::filesystem::path path = folder.write(name, bytes);
    const std::string said = complaint([&] { open_policy_file(path); }),
                      where = path.string() + ": ";
    CHECK(said.starts_with(where));
    return said.substr(std::min(said.size(), where.size()));
}
std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}
// The fields of an ONNX file, of which one changes `of` those.
std::string with_field(const std::string& file, uint32_t number, const std::string& bytes) {
    ProtoMessage field;
    field.bytes(number, bytes);
    std::string changed;
    for (const ProtoField& one : read_proto(file, "file"))
        changed += one.number == number ? field.all() : std::string(one.written);
    return changed;
}
std::string without_field(const std::string& file, uint32_t number) {
    std::string changed;
    for (const ProtoField& one : read_proto(file, "file"))
        if (one.number != number) changed += one.written;
    return changed;
}

}

TEST_CASE("a policy that is read back from its file is the same") {
    const Folder folder;
    const OpenedPolicy policy = pilot();
    for (const PolicyFormatName& form : policy_formats) {
        if (form.format == PolicyFormat::c) continue;
        const std::string bytes = exported(policy, form.format, "pilot");
        const OpenedPolicy read =
            open_policy_file(folder.write(std::string("pilot") + form.suffix, bytes));
        CHECK(read.environment == "Car");
        CHECK(read.steps == 40);
        CHECK(read.policy->description().name == "pilot");
        std::vector<float> actions(4);
        read.policy->act(std::vector<float>{1, 2, -1, -2}, actions, {}, nullptr);
        CHECK(actions == std::vector<float>{1, 1.75f, 2, -0.75f});
        CHECK(exported(read, form.format, "pilot") == bytes);
    }
}

TEST_CASE("what is no file of an exported policy is refused with what would be one") {
    const Folder folder;
    CHECK(refused_file(folder, "a.bin", "") ==
          "is no file of 'nacelle export' (a name that ends in .onnx or .safetensors)");
    CHECK(refused_file(folder, "a.h", "") ==
          "is C: a program that includes it plays it, and Nacelle compiles no file that only holds "
          "numbers ('nacelle export --to safetensors' or 'onnx' writes one that it plays)");
    CHECK(refused_file(folder, "a.safetensors", "abc") == "is no safetensors file: it has 3 bytes");
    CHECK(refused_file(folder, "a.safetensors", tensors_of("weight", {1, 2})) ==
          "was not written by 'nacelle export': nothing in it says what its arrays do with an "
          "observation (a file of 'nacelle export', or a run's directory)");
    CHECK(refused_file(folder, "a.onnx", std::string(3, '\xff')) ==
          "is no ONNX file, or a damaged one: its bytes are no message of Protocol Buffers");
    ProtoMessage foreign;
    foreign.integer(1, 8).bytes(2, "somebody else").message(7, ProtoMessage());
    CHECK(refused_file(folder, "a.onnx", foreign.all()) ==
          "is no ONNX file of 'nacelle export': Nacelle plays its own, and runs no graph of others "
          "(onnxruntime does)");
}

TEST_CASE("a file that was cut short or changed is refused with the place of the fault") {
    const Folder folder;
    const OpenedPolicy policy = pilot();
    const std::string onnx = exported(policy, PolicyFormat::onnx, ""),
                      tensors = exported(policy, PolicyFormat::safetensors, "");
    CHECK(contains(refused_file(folder, "a.onnx", onnx.substr(0, onnx.size() / 2)),
                   "is no ONNX file, or a damaged one"));
    CHECK(contains(refused_file(folder, "a.safetensors", tensors.substr(0, tensors.size() - 4)),
                   "is no safetensors file"));
    constexpr const char* changed =
        "has another graph than 'nacelle export' wrote: a tool has changed it (onnxruntime runs "
        "any graph; Nacelle plays the file as it was written)";
    CHECK(refused_file(folder, "a.onnx", replaced(onnx, "ArgMax", "ArgMin")) == changed);
    // Without its graph there are no weights either.
    CHECK(refused_file(folder, "a.onnx", without_field(onnx, 7)) == changed);
    CHECK(refused_file(folder, "a.onnx", replaced(onnx, "nacelle.policy.1", "nacelle.policy.2")) ==
          "is of the form 'nacelle.policy.2' (this version of Nacelle reads nacelle.policy.1)");
    CHECK(refused_file(folder, "a.onnx", with_field(onnx, 14, "\x12\x01x")) ==
          "is no ONNX file of 'nacelle export': Nacelle plays its own, and runs no graph of others "
          "(onnxruntime does)");
    CHECK(refused_file(folder, "a.safetensors",
                       replaced(tensors, "policy/layers.0.bias", "policy/layers.0.bios")) ==
          "is damaged: it has no policy/layers.0.bias, f32 [5]");
    CHECK(refused_file(folder, "a.safetensors", replaced(tensors, "[5,2]", "[2,5]")) ==
          "is damaged: its policy/layers.0.weight is f32 [2, 5]; the policy needs f32 [5, 2]");
    CHECK(refused_file(folder, "a.safetensors", replaced(tensors, "\"40\"", "\"4a\"")) ==
          "is damaged: its number of steps is '4a'");

    PolicyContent content = content_of(policy);
    content.tensors.push_back({"policy/layers.1.bias", {1}, {0}});
    CHECK(complaint([&] { policy_of(content, "file"); }) ==
          "file: has policy/layers.1.bias, f32 [1], which is no part of its policy");
    content.tensors.pop_back();
    content.tensors.front().numbers[0] = NAN;
    CHECK(complaint([&] { policy_of(content, "file"); }) ==
          "file: its policy has numbers that are not finite: training failed");
    content.metadata["policies"] = "7";
    CHECK(complaint([&] { policy_of(content, "file"); }) ==
          "file: is damaged: it describes no policy");
}

TEST_CASE("names in a header of C are such, and end no comment") {
    CHECK(c_name("pole-1") == "pole_1");
    CHECK(c_name("1st") == "policy_1st");
    CHECK(c_name("") == "policy_");
    Json told = gears_and_push();
    told["actions"][0]["name"] = "*/ $NAME int x; /*";
    const std::string text = c_of(pilot(told), "car");
    CHECK(contains(text, "__ _NAME int x; __, one of 3"));
    CHECK(contains(text, "enum { CAR_INPUTS = 2,"));
}
