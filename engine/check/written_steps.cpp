// Checks the author's table of single steps, a file beside the source.
#include "engine/base/error.h"
#include "engine/check/checks.h"
#include "engine/check/step_table.h"
#include "engine/env/find_environment.h"

namespace nacelle {

Finding check_step_table(Session& session) {
    const std::filesystem::path source = session.subject().settings.source,
                                file = step_table_path(source);
    const std::string name = file.filename().string();
    if (!std::filesystem::exists(file)) return skipped("there is no " + name + " beside the file");
    if (!is_as_open(file, source)) return skipped(name + " " + stranger_in(file).reason);
    const StepTable table = read_step_table(file);
    // The table describes the file itself: settings of a run do not apply.
    EnvSettings settings = session.settings(uint32_t(table.steps.size()));
    settings.where = table.where;
    settings.constants = table.constants;
    settings.params = Json::object();
    for (const auto& [param, value] : session.subject().settings.params.items())
        if (value.is_string()) settings.params[param] = value;    // a table's file
    merge_json(settings.params, table.params);

    const auto env = session.load(Variant::plain(), settings);
    fill_role(*env, Role::action, 0);
    put_steps(*env, table);
    session.doing("step(), or reset() or observe() behind it");
    env->step();
    env->check_finite();
    const std::vector<std::string> wrong = wrong_steps(*env, table);
    const std::string of = std::to_string(table.steps.size()) +
                           (table.steps.size() == 1 ? " step" : " steps") + " of " + name;
    if (wrong.empty()) return passed("the " + of + " come out as written there");
    return refused(wrong.front() + " (" + std::to_string(wrong.size()) + " of the " + of +
                       " come out otherwise)",
                   "mend step() or the table; after a step that ends an episode, state and obs are "
                   "those of the next one, and final_obs is that of the last");
}

}
