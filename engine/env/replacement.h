#pragma once
#include "engine/compile/rebuild.h"
#include "engine/env/environment.h"

namespace nacelle {

// A new version of an environment, created beside the running one as a whole environment, which can take its place. A
// call that throws leaves the running one unchanged.
//
// Arrays of the same name, type and shape keep their memory and content; others are the new version's, filled by its
// reset(). Clock, seed, parameters that were set, the data of tables, and snapshots stay. prepare() fills its tables
// again.
class Replacement final {
public:
    // Throws where the new version is not usable: a parameter that is set is gone, a table does not fit its data, a
    // number is not finite after reset().
    Replacement(Environment& running, const Rebuilt& rebuilt);

    // Whether a field of the state was changed, added or removed.
    bool state_changed() const { return state_changed_; }

    // Makes the running environment the new version; kernels must be looked up and graphs recorded again. Throws
    // where an observation of the current state is not finite.
    void install();
    // Undoes install().
    void roll_back();
    // Completes the replacement, after which it cannot be rolled back.
    void commit();

    // The new version as an environment of its own, with the carried content, for a learner that cannot continue in
    // the running one.
    std::shared_ptr<Environment> standalone();

private:
    void swap();
    void copy_pool();
    bool carries_all(Role role) const;

    Environment& running_;
    std::shared_ptr<Environment> fresh_;
    std::vector<std::pair<Program*, std::unique_ptr<Program>>> programs_;
    bool state_changed_ = false, totals_carried_ = true;
};

}
