#pragma once
#include <nanobind/nanobind.h>

namespace nacelle::python {

void bind_training(nanobind::module_& module);

}
