#pragma once
#include "algorithms/policy_gradient/plan/networks.h"
#include "algorithms/policy_gradient/plan/schema_view.h"

namespace learn {

// How each policy acts, as a JSON object: what it sees, its network, and what its outputs mean. Checkpoints keep it. Empty
// where a network is none of layers.
std::string policies_text(const Settings& settings, const std::vector<NetworkShape>& shapes,
                          const SchemaView& schema);

// Parts of it. A network of these neurons, inputs first, in the array of this name; and what normalises a group's rows.
std::string network_text(const PolicySettings& policy, const Encoder& encoder,
                         const std::vector<int64_t>& sizes, const std::string& weights);
std::string normaliser_text(const std::string& group);

}
