#pragma once
#include <map>
#include <string>
#include <vector>

namespace nacelle {

// What has become of some numbers over the steps of a run. However long it runs, a curve has at most
// `most_points`: when it is full every second one goes, and from then on it takes every second one.
class Curves final {
public:
    static constexpr size_t most_points = 512;

    // What is not finite is left out.
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
