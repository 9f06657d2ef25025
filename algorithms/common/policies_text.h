#pragma once
#include "algorithms/common/networks.h"
#include "algorithms/common/schema_view.h"

namespace learn {

// How each policy acts, as a JSON object: what it sees, its network, and what its outputs mean. Checkpoints keep it.
std::string policies_text(const Settings& settings, const std::vector<NetworkShape>& shapes,
                          const SchemaView& schema);

}
