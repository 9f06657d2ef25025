#pragma once
#include <charconv>
#include <string>

// Numbers as text, the same in every locale.
namespace nacelle {

// The shortest digits that read back as the same number. One that is a float exactly is written as a float.
std::string shortest(double number);
// The number that those digits are as a double: 0.1 for the float nearest to it.
double as_written(float number);
// At most so many significant digits, as "%.5g" prints.
std::string rounded(double number, int digits);

template <class T> void append_shortest(std::string& text, T number) {
    char digits[40];
    text.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}
void append_rounded(std::string& text, double number, int digits);

}
