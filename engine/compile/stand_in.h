#pragma once
#include "engine/compile/schema.h"

namespace nacelle {

// The text of an environment that does nothing and has the sizes of this one: the same groups, agents, policies,
// observations, actions with their bounds, masks and turns. The text has no name of the author's, so that it is the
// same for every version and every environment of these sizes.
//
// It does not have what the table of fields does not tell: which agent of a group follows which policy (a kernel that
// asks does not compile) and how the elements of an observation's Arrays are divided among its fields.
std::string stand_in_text(const EnvSchema& schema);

// A view of a stand-in: the head, and the addresses of the arrays of actions, observations, masks, turns, rewards and
// ends. `view` is that of the environment itself.
std::vector<std::byte> stand_in_view(const EnvSchema& stand_in, const EnvSchema& schema,
                                     std::span<const std::byte> view);

}
