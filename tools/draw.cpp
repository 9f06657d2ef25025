#include "engine/base/error.h"
#include "engine/run/trainee.h"
#include "engine/view/drawing.h"
#include "tools/commands.h"
#include "tools/crash_watch.h"
#include "tools/options.h"
#include "tools/output.h"
#include "tools/picture_file.h"

#include <cstdio>

namespace nacelle::tools {
namespace {

struct Draw {
    Options options;
    std::string environment;
    uint32_t steps = 0, which = 0;
    int pixels = 720;
    std::filesystem::path out;
};

// A batch that ends with the requested environment: environments do not depend on each other.
uint32_t cut_batch(Json& configuration, uint32_t which) {
    Json& env = configuration["env"];
    const auto given = env.find("count");
    const uint64_t count =
        given != env.end() && given->is_number_unsigned() ? given->get<uint64_t>() : most_envs;
    if (which < count) env["count"] = which + 1;
    return uint32_t(std::min<uint64_t>(count, most_envs));
}

void say(const Draw& draw, Environment& env, const DisplayList& picture, bool by_author) {
    if (draw.options.json) {
        print_json({{"environment", env.name()},
                    {"index", draw.which},
                    {"steps", draw.steps},
                    {"out", draw.out.string()},
                    {"by_author", by_author},
                    {"shapes", picture.shapes.size()},
                    {"dropped", picture.dropped},
                    {"view", {picture.left, picture.bottom, picture.right, picture.top}}});
        return;
    }
    std::printf("%s after %u steps, environment %u: %s\n", env.name().c_str(), draw.steps,
                draw.which, draw.out.c_str());
    if (!by_author) std::printf("it has no draw(): these are its arrays\n");
    if (picture.dropped)
        std::printf("%llu shapes were left out: a coordinate is not finite\n",
                    static_cast<unsigned long long>(picture.dropped));
}

void run(Draw& draw) {
    if (!draw.out.empty()) require_picture_file(draw.out, "draw");
    const std::shared_ptr<RunsOn> on = open_for(draw.options);
    std::optional<CrashWatch> crash;
    Plugins plugins(plugin_folders(draw.options), on->cache, on->log);
    std::shared_ptr<Environment> env;
    std::string name;
    with_configuration(sources_for(draw.options, draw.environment),
                       [&](Json configuration, const std::string& where) {
                           const uint32_t count = cut_batch(configuration, draw.which);
                           require_environment("--env", draw.which, count);
                           crash.emplace(configuration);
                           name = name_of(draw.environment, configuration);
                           env = load_environment(on, plugins, configuration, where);
                       });
    for (uint32_t i = 0; i < draw.steps; ++i) env->step_at_random();
    env->check_finite();

    Drawing drawing(*env);
    const DisplayList picture = drawing.draw(draw.which);
    if (draw.out.empty()) draw.out = name + ".svg";
    const std::string title = env->name() + " after " + std::to_string(draw.steps) + " steps";
    write_picture(draw.out, picture, title, draw.pixels);
    say(draw, *env, picture, drawing.by_author());
}

}

void add_draw(CommandLine& line) {
    auto draw = std::make_shared<Draw>();
    Command command = line.add(
        "draw", "Write a picture of an environment (SVG or PNG): by its draw(), or of its arrays");
    add_common_options(command, draw->options);
    add_config_options(command, draw->options, false);
    command.option("environment", draw->environment, env_help).required();
    command.option("--steps", draw->steps, "Steps before the picture, with random actions")
        .between(0u, 1000000000u)
        .shows_default();
    command.option("--env", draw->which, "Which of the environments")
        .between(0u, most_envs - 1)
        .shows_default();
    command.option("--size", draw->pixels, "Pixels of the longer side")
        .between(16, 16384)
        .shows_default();
    command.option("--out", draw->out,
                   "The file, x.svg or x.png; NAME.svg here where none is given");
    command.run([draw] { run(*draw); });
}

}
