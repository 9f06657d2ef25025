#pragma once
#include <charconv>
#include <cstdint>
#include <string>

// Numbers as text, independent of the locale.
namespace nacelle {

// The shortest digits that parse back to the same number; a double that is exactly a float is written as a float.
std::string shortest(double number);
// The double that those digits denote: 0.1 for the float nearest to it.
double as_written(float number);
// At most `digits` significant digits, as "%.5g" prints.
std::string rounded(double number, int digits);

// "not a number", "infinite" or "minus infinity", for a number that is not finite.
const char* not_finite_text(double number);

// "1 episode", "2 episodes".
std::string counted(uint64_t count, const std::string& thing);

template <class T> void append_shortest(std::string& text, T number) {
    char digits[40];
    text.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}
void append_rounded(std::string& text, double number, int digits);

}
