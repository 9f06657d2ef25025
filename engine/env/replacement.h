#pragma once
#include "engine/env/environment.h"
#include "engine/env/rebuild.h"

namespace nacelle {

// Another version of an environment, made beside the running one as a whole environment of its own,
// that can take its place. What throws has changed nothing in the running one.
//
// Arrays of the same name, type and shape keep their memory and what is in it; others are the new
// version's, filled by its reset(). Clock, seed, parameters that were set, the data of tables and
// snapshots stay. What prepare() fills is filled anew.
class Replacement final {
public:
    // Throws where the new version cannot be had: a parameter that is set is gone, a table no longer
    // fits its data, a number is not finite after reset().
    Replacement(Environment& running, const Rebuilt& rebuilt);

    // Whether a field of the state is another one, has come or has gone.
    bool state_changed() const { return state_changed_; }

    // From here on the running environment is the new version; its kernels must be asked for anew and
    // its graphs recorded again. Throws where an observation of the state as it is now is not finite.
    void take_place();
    // Everything as before take_place().
    void take_back();
    // What can be done only once nobody takes it back.
    void settle();

    // For who cannot go on in the same environment: the new one, with all that was carried into it.
    std::shared_ptr<Environment> on_its_own();

private:
    void copy_pool();
    bool carries_all(Role role) const;

    Environment& running_;
    std::shared_ptr<Environment> fresh_;
    std::vector<std::pair<Program*, std::unique_ptr<Program>>> programs_;
    bool state_changed_ = false, totals_carried_ = true;
};

}
