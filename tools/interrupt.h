#pragma once
#include <initializer_list>

namespace nacelle::tools {

// From now on the first of these signals only says so; the next one does what it does to any program.
void listen_for(std::initializer_list<int> signals);
bool interrupted();

}
