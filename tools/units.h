#pragma once
#include <string>

// Numbers as the commands print them.
namespace nacelle::tools {

// "147 k", "1.31 M": a count or a rate with three digits.
std::string count_text(double value);
// A mean return, with more digits where it is below ten: "498.2", "0.953"; "1.2e-06" and "1e+30" where it is small or
// huge.
std::string return_text(double value);
// "498.2 ± 1.3"
std::string with_interval(double mean, double interval);
// "0.010 (0.003 to 0.031)"
std::string with_bounds(double mean, double low, double high);
// The digits of an interval are those of its mean.
std::string interval_text(double mean, double interval);
// "1:04", "2:00:10": minutes and hours, or "3.21 s" below a minute.
std::string duration_text(double seconds);

}
