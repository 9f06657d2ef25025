// Snapshots of chosen environments; the pool has the layout of the arrays.
#include "engine/base/error.h"
#include "engine/env/environment.h"

namespace nacelle {

void Environment::save_snapshots(std::span<const uint32_t> chosen) {
    if (chosen.empty()) throw Error(name_, "a pool of snapshots needs at least one environment");
    require_envs(chosen);
    pool_ = Registry(name_);
    for (const Field& field : schema().fields())
        if (field.slot >= 0 && (field.kept & 2)) pool_.add(array_of(field, chosen.size()));
    view_.bind(schema(), arrays_, pool_);
    head().pool_size = static_cast<uint32_t>(chosen.size());
    show_view();
    run_reset(ResetArgs::save, chosen, {});
}

void Environment::restore_snapshots(std::span<const uint32_t> chosen,
                                    std::span<const uint32_t> places) {
    if (chosen.size() != places.size())
        throw Error(name_,
                    std::to_string(chosen.size()) + " environments cannot be restored from " +
                        std::to_string(places.size()) + " snapshots",
                    "name one snapshot for each");
    for (const uint32_t place : places)
        if (place >= head().pool_size)
            throw Error(name_, "there is no snapshot " + std::to_string(place),
                        head().pool_size ? "there are 0 to " + std::to_string(head().pool_size - 1)
                                         : "none was saved");
    if (!chosen.empty()) run_reset(ResetArgs::restore, chosen, places);
}

void Environment::set_snapshot_chance(double chance) {
    if (!(chance >= 0 && chance <= 1))
        throw Error(name_, "the chance of a reset from a snapshot must be from 0 to 1");
    if (chance > 0 && head().pool_size == 0)
        throw Error(name_, "no snapshot was saved for resets to start from");
    head().pool_chance = static_cast<float>(chance);
    show_view();
}

}
