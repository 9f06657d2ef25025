#include "engine/base/error.h"
#include "engine/run/auto_count.h"
#include "tools/commands.h"
#include "tools/train_seeds.h"

namespace nacelle::tools {
namespace {

struct Resume {
    Training training;
    RunStart start{.resume = true};
};

void run(Resume& resume) {
    if (holds_seeds(resume.start.out))
        return resume_seeds(resume.training, resume.start.out, resume.start.changed_source);
    Json configuration = run_configuration(resume.start.out);
    // The environments of a process that trained alone are dealt out to several as well.
    if (Json& its = configuration["run"]; !its.contains("ranks")) its["ranks"] = 1;
    with_configuration(changed_by(resume.training.options, configuration,
                                  (resume.start.out / "config.json").string()),
                       [&](const Json& configuration, const std::string& where) {
                           if (is_auto_count(configuration))
                               throw Error("env.count",
                                           "\"auto\" is found out before a run begins, and this "
                                           "one's environments are in its checkpoints",
                                           "leave it out; 'nacelle train' finds a number for a new "
                                           "run");
                           train_to_the_end(resume.training, configuration, where, resume.start);
                       });
}

}

void add_resume(CommandLine& line) {
    auto resume = std::make_shared<Resume>();
    Command command =
        line.add("resume",
                 "Go on with a run, or with the runs of several seeds, from the newest checkpoint");
    add_run_options(command, resume->training.options, resume->start.out);
    add_assignments(command, resume->training.options);
    command.flag("--changed-source", resume->start.changed_source,
                 "Go on though the environment's files have changed");
    add_training_options(command, resume->training);
    command.run([resume] { run(*resume); });
}

}
