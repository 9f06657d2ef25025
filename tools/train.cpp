#include "engine/base/error.h"
#include "engine/run/auto_count.h"
#include "tools/commands.h"
#include "tools/ranks.h"
#include "tools/train_seeds.h"
#include "tools/training.h"

namespace nacelle::tools {
namespace {

struct Train {
    Training training;
    std::string environment;
    std::filesystem::path out;
    uint64_t seeds = 0;    // 0: one run, not a folder of runs
};

void begin(Train& train, const Json& configuration, const std::string& where) {
    // The directory (runs/cartpole-1, -2, ...) is known after the run has compiled.
    const std::filesystem::path next =
        std::filesystem::path("runs") / name_of(train.environment, configuration);
    if (train.seeds && own_place(0).ranks > 1)
        throw Error("--seeds",
                    "trains one run after the other in one process, and there are " +
                        std::to_string(own_place(0).ranks) + " ranks",
                    "a run with several ranks has one seed");
    if (train.seeds && is_auto_count(configuration))
        throw Error("env.count", "\"auto\" is found out for one run, and --seeds has several",
                    "train one seed with it; its config.json has the number");
    if (train.seeds)
        return train_seeds(train.training, configuration, where, train.seeds, train.out, next);
    const RunStart start = train.out.empty() ? RunStart{.next = next} : RunStart{.out = train.out};
    train_to_the_end(train.training, configuration, where, start);
}

void run(Train& train) {
    if (!train.out.empty()) require_no_seeds(train.out);
    with_configuration(sources_for(train.training.options, train.environment),
                       [&](const Json& configuration, const std::string& where) {
                           begin(train, configuration, where);
                       });
}

}

void add_train(CommandLine& line) {
    auto train = std::make_shared<Train>();
    Command command = line.add("train", "Train a policy");
    add_common_options(command, train->training.options);
    command.option("environment", train->environment, env_help).required();
    add_config_options(command, train->training.options, true);
    command.option("--out", train->out,
                   "Directory of the run; runs/NAME-1, -2, ... where none is given");
    add_training_options(command, train->training);
    command
        .option("--seeds", train->seeds,
                "Train with so many seeds, from --seed on, in OUT/seed-K, and report on all")
        .between(uint64_t(1), most_seeds)
        .excludes(command.known("--web"))
        .excludes(command.known("--ranks"))
        .excludes(command.known("--until"))
        .excludes(command.known("--record-to"));
    command.run([train] { run(*train); });
}

}
