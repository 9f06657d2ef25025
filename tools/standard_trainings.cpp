#include "tools/standard_trainings.h"

namespace nacelle::tools {
namespace {

struct Size {
    uint32_t envs, horizon;
};
struct TrainingForm {
    const char* environment;
    Size gpu, cpu;
    Json policy, constants;
};

Json network(int width, const char* trunk, const char* precision) {
    return {{"hidden", {width, width}},
            {"activation", "tanh"},
            {"trunk", trunk},
            {"precision", precision}};
}

// Horizons shrink as teams grow, so that a rollout fits a GPU with 80 GB.
std::vector<TrainingForm> forms() {
    const Json none = Json::object(), team = network(64, "shared", "auto"),
               crowd = {{"taggers", 5}, {"runners", 100}, {"neighbours", 10}, {"observe_all", 0}};
    const auto grid = [](int taggers, int all) {
        return Json{{"taggers", taggers}, {"observe_all", all}};
    };
    return {
        {"cartpole", {4096, 128}, {256, 128}, network(64, "shared", "bf16"), none},
        {"cartpole", {4096, 128}, {256, 128}, network(64, "separate", "bf16"), none},
        {"cartpole", {4096, 128}, {256, 128}, network(64, "shared", "f32"), none},
        {"cartpole", {4096, 128}, {256, 128}, network(64, "separate", "f32"), none},
        {"cartpole", {16384, 128}, {1024, 128}, network(64, "shared", "bf16"), none},
        {"cartpole", {65536, 32}, {4096, 32}, network(64, "separate", "bf16"), none},
        {"tag_gridworld", {2000, 128}, {128, 16}, team, grid(4, 1)},
        {"tag_gridworld", {2000, 32}, {16, 8}, team, grid(104, 1)},
        {"tag_gridworld", {2000, 32}, {16, 8}, team, grid(104, 0)},
        {"tag_gridworld", {2000, 16}, {4, 4}, team, grid(999, 0)},
        {"tag_continuous",
         {2000, 128},
         {128, 16},
         team,
         {{"taggers", 2}, {"runners", 3}, {"observe_all", 1}}},
        {"tag_continuous", {2000, 32}, {16, 8}, team, crowd},
        {"tag_continuous", {2000, 32}, {8, 8}, network(256, "shared", "auto"), crowd},
    };
}

}

std::vector<StandardTraining> standard_trainings(bool cuda) {
    std::vector<StandardTraining> trainings;
    for (const TrainingForm& form : forms()) {
        const Size size = cuda ? form.gpu : form.cpu;
        // A long run, so that its schedules hardly move during the measurement.
        trainings.push_back(
            {form.environment,
             {{"env", {{"count", size.envs}, {"constants", form.constants}}},
              {"learner",
               {{"name", "ppo"}, {"horizon", size.horizon}, {"epochs", 4}, {"minibatches", 4}}},
              {"policies", {{"default", form.policy}}},
              {"run", {{"total_steps", int64_t(1) << 50}}}}});
    }
    return trainings;
}

}
