#include "engine/web/places.h"

#include <utility>

namespace nacelle {

bool Places::close_oldest() {
    if (taken_.empty()) return false;
    const Place* const oldest = taken_.front();
    taken_.pop_front();    // what it closes may be gone only later, and is no longer counted
    oldest->close_();
    return true;
}

Place::Place(Places& places, std::function<void()> close)
    : places_(places), close_(std::move(close)) {
    if (places.taken_.size() >= places.most_) places.close_oldest();
    places.taken_.push_back(this);
}

}
