#include "engine/policy/read_policy_description.h"
#include "tests/policy/saved.h"

using namespace nacelle;
using namespace nacelle::test;

namespace {

// What is said to the description with this part of it replaced; null removes it.
std::string refused_description(const std::string& place, const Json& value) {
    Json pilot = gears_and_push();
    const Json::json_pointer at("/" + place);
    if (value.is_null()) pilot[at.parent_pointer()].erase(at.back());
    else pilot[at] = value;
    const std::string said = complaint([&] {
        read_policy_description({{"pilot", pilot}}, "", "file");
    });
    const std::string where = "file: policies.pilot";
    CHECK(said.starts_with(where));
    return said.substr(std::min(said.size(), where.size()));
}

}

TEST_CASE("a description of a policy is read whole") {
    const PolicyDescription pilot =
        read_policy_description({{"pilot", gears_and_push()}}, "pilot", "file");
    CHECK(pilot.name == "pilot");
    CHECK(pilot.inputs() == 2);
    CHECK(pilot.choices() == 3);
    CHECK(pilot.reals() == 1);
    CHECK(pilot.outputs() == 5);
    CHECK(pilot.draws);
    CHECK(pilot.most_log_deviation == 2);
}

TEST_CASE("convolutions of a description are read whole, or refused with the place of the fault") {
    // One number is the image, the other one skips it: two channels and a number go into the layer.
    const Json good = {
        {"rows", 1},
        {"columns", 1},
        {"one_hot", 0},
        {"images", {{{"first", 0}, {"channels", 1}}}},
        {"layers",
         {{{"channels", 2}, {"rows", 1}, {"columns", 1}, {"stride", 1}, {"padding", 0}}}}};
    Json pilot = gears_and_push();
    pilot["network"]["convolutions"] = good;
    pilot["network"]["sizes"] = {3, 5};
    const PolicyDescription read = read_policy_description({{"pilot", pilot}}, "pilot", "file");
    CHECK(read.inputs() == 2);
    CHECK(read.encoder.width() == 3);
    CHECK(read.encoder.others == std::vector<size_t>{1});
    const auto refused = [&](const char* place, const Json& value) {
        Json wrong = good;
        wrong[Json::json_pointer(place)] = value;
        return refused_description("network/convolutions", wrong);
    };
    CHECK(refused("/rows", 0) ==
          ".network.convolutions.rows: expected a whole number from 1 to 4096, found 0");
    CHECK(
        refused("/layers/0/stride", 0) ==
        ".network.convolutions.layers[0].stride: expected a whole number from 1 to 4096, found 0");
    CHECK(refused("/layers/0/rows", 2) ==
          ".network.convolutions.layers[0].rows: the kernel is larger than its image");
    CHECK(refused("/layers/0/padding", 4096) ==
          ".network.convolutions.layers[0].channels: more numbers than 16777216");
    CHECK(refused("/images/0/first", 2) ==
          ".observation: has 2 numbers a row, and an image beyond them");
    CHECK(refused("/layers/0/channels", 3) ==
          ".observation: becomes 4 numbers behind the convolutions; the network takes 2");
}

TEST_CASE("layers that remember are one for each hidden layer, of a kind that is known") {
    CHECK(refused_description("network/cells", {"gru"}) ==
          ".network.cells: expected one for each of the 0 layers between the first and the last "
          "size");
    CHECK(refused_description("network/cells", {"lstm"}) ==
          ".network.cells: expected 'linear', 'mingru' or 'gru'");
}

TEST_CASE("a description that nobody could act by is refused with the place of the fault") {
    CHECK(refused_description("observation", nullptr) ==
          ".observation: expected a list of 1 to 1048576 entries");
    CHECK(refused_description("observation/0/count", 0) ==
          ".observation[0].count: expected a whole number from 1 to 16777216, found 0");
    CHECK(refused_description("observation/0/name", "a\nb") ==
          ".observation[0].name: expected a plain name");
    CHECK(refused_description("observation/0/count", 3) ==
          ".observation: has 3 numbers a row; the network takes 2");
    CHECK(refused_description("actions", Json::array()) ==
          ".actions: expected a list of 1 to 1048576 entries");
    CHECK(refused_description("actions/0/choices", -1) ==
          ".actions[0].choices: expected a whole number from 1 to 16777216, found -1");
    CHECK(refused_description("actions/1/low", nullptr) == ".actions[1].low: is missing");
    CHECK(contains(refused_description("actions/1/high", 1e300),
                   ".actions[1].high: expected a number from"));
    CHECK(refused_description("actions/0/choices", 4) ==
          ".network: has 5 outputs; the actions need 6");
    CHECK(refused_description("network/sizes", {2}) == ".network.sizes: expected at least two");
    CHECK(refused_description("network/sizes", {2, 1.5}) ==
          ".network.sizes: expected whole numbers from 1 to 16777216");
    CHECK(contains(refused_description("network/activation", "sinus"),
                   ".network.activation: expected one of tanh, relu, gelu, silu"));
    CHECK(contains(refused_description("network/biases", "nowhere"),
                   ".network.biases: expected one of behind, in rows"));
    CHECK(refused_description("network/weights", 3) ==
          ".network.weights: expected a text, found 3");
    CHECK(contains(refused_description("memory", {{"cells", 8}}),
                   ".memory: a policy of this version of Nacelle has no 'memory'"));
    CHECK(refused_description("log_deviation", nullptr) == ".log_deviation: is missing");
    CHECK(refused_description("log_deviation", {1}) == ".log_deviation: expected two numbers");
    for (const auto& [least, most] :
         std::vector<std::pair<double, double>>{{5, -5}, {-1e300, 2}, {-5, 1e300}, {-5, 100}})
        CHECK(refused_description("log_deviation", {least, most}) ==
              ".log_deviation: expected the least and the most, between -80 and 80");
    CHECK(refused_description("actions/1/low", 1e30) == ".actions[1].low: is more than 'high'");
    CHECK(refused_description("normaliser", {{"mean", "m"}, {"scale", "s"}, {"bound", -5}}) ==
          ".normaliser.bound: expected more than 0");
    CHECK(contains(refused_description("noise_steps", 0), ".noise_steps: expected a whole number"));
    CHECK(refused_description("normaliser", {{"mean", "m"}}) ==
          ".normaliser.scale: expected a plain name");
}
