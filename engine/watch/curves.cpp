#include "engine/watch/curves.h"

#include "engine/config/config.h"

#include <cmath>

namespace nacelle {

void Curves::add(const std::string& name, double step, double value) {
    if (!std::isfinite(value)) return;
    Curve& curve = curves_[name];
    curve.last = {step, value};
    changed_ = true;
    if (curve.seen++ % curve.every != 0) return;
    curve.points.emplace_back(step, value);
    if (curve.points.size() < most_points) return;
    for (size_t i = 0; i < most_points / 2; ++i) curve.points[i] = curve.points[2 * i];
    curve.points.resize(most_points / 2);
    curve.every *= 2;
}

std::string Curves::text() {
    changed_ = false;
    Json all = Json::object();
    for (const auto& [name, curve] : curves_) {
        Json points = Json::array();
        for (const auto& [step, value] : curve.points)
            points.push_back({step, double(float(value))});
        // Always includes the newest value, which is shown elsewhere as well.
        if (curve.points.empty() || curve.points.back() != curve.last)
            points.push_back({curve.last.first, double(float(curve.last.second))});
        all[name] = std::move(points);
    }
    return json_text(all);
}

}
