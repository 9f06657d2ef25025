#pragma once
#include "engine/env/environment.h"

namespace nacelle {

// Every parameter of an environment with the data of a slider:
// [{"name","kind","value","default","low","high","step"},...]. kind: number, whole, flag, list, drawn (a
// distribution) or table. The range is from 0 to three times the default; other numbers can be entered.
Json parameters_json(const Environment& env);

}
