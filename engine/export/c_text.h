#pragma once
#include <nacelle/device/policy/activation.h>

#include <span>
#include <string>
#include <vector>

namespace nacelle {

// A number as C writes a float: the shortest text that is read back as the same bits.
std::string c_float(float number);
// "static const float $name[3] = {...};"
std::string c_array(const std::string& name, std::span<const float> numbers);
std::string c_array(const std::string& name, const std::vector<size_t>& numbers);
// A name that somebody else chose, for a comment: it can neither end it nor begin another.
std::string c_comment(const std::string& text);
// A text in which each $name is `name`, and each $NAME `constant`.
std::string c_named(const std::string& text, const std::string& name, const std::string& constant);

// The functions that a header needs, of which the text says $name for the policy's name: $name_tanh and, as they are
// asked for, $name_bend, $name_dense, $name_convolve and the steps of layers that remember.
std::string c_tanh();
std::string c_bend(PolicyActivation activation);
std::string c_dense();
std::string c_convolve();
std::string c_mingru();
std::string c_gru();

}
