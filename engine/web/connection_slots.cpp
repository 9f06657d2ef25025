#include "engine/web/connection_slots.h"

#include <utility>

namespace nacelle {

bool ConnectionSlots::close_oldest() {
    if (taken_.empty()) return false;
    const ConnectionSlot* const oldest = taken_.front();
    taken_.pop_front();    // what it closes may be gone only later, and is no longer counted
    oldest->close_();
    return true;
}

ConnectionSlot::ConnectionSlot(ConnectionSlots& slots, std::function<void()> close)
    : slots_(slots), close_(std::move(close)) {
    if (slots.taken_.size() >= slots.most_) slots.close_oldest();
    slots.taken_.push_back(this);
}

}
