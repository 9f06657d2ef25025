#include "engine/run/stagger.h"

#include "engine/base/error.h"

namespace nacelle {

bool sees_one_phase(const Environment& env, uint64_t steps_per_iteration) {
    return steps_per_iteration / env.count() < env.schema().header().time_limit;
}

void stagger_first_episodes(Environment& env, const std::string& where) {
    const uint64_t limit = env.schema().header().time_limit;
    if (limit == 0)
        throw Error(where,
                    "run.stagger: " + env.name() +
                        " has no time_limit, so that its episodes do not end together",
                    "false");
    // A clock that begins later than 0 is looked at only where there are snapshots to begin from.
    const uint32_t any = 0;
    if (env.snapshots() == 0) env.save_snapshots(std::span(&any, 1));
    std::vector<int32_t> begins(env.count());
    const uint64_t first = env.settings().first_env,
                   all = begins.size() * (env.on().ranks ? env.on().ranks->count() : 1);
    for (uint64_t i = 0; i < begins.size(); ++i)
        begins[i] = static_cast<int32_t>((first + i) * limit / all);
    env.arrays()["episode.start"].write(std::span<const int32_t>(begins));
}

}
