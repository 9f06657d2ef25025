#pragma once
#include <map>
#include <string>
#include <vector>

namespace nacelle {

// Numbers over the steps of a run. A curve has at most `most_points`: when it is full, every second point is removed,
// and from then on only every second value is added.
class Curves final {
public:
    static constexpr size_t most_points = 512;

    // Ignores values that are not finite.
    void add(const std::string& name, double step, double value);
    bool changed() const { return changed_; }
    // {"episode.return":[[step,value],...],...}
    std::string text();

private:
    struct Curve {
        std::vector<std::pair<double, double>> points;
        size_t every = 1, seen = 0;
        std::pair<double, double> last;
    };

    std::map<std::string, Curve> curves_;
    bool changed_ = false;
};

}
