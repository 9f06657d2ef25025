#pragma once
#include <cstddef>
#include <functional>
#include <list>

namespace nacelle {

// A limit on the number of open connections of one kind. When all slots are taken, a new connection closes the
// oldest one: idle connections cannot keep others out.
class ConnectionSlots final {
public:
    explicit ConnectionSlots(size_t most) : most_(most) {}

    // Closes the oldest connection; false where there is none.
    bool close_oldest();

private:
    friend class ConnectionSlot;

    size_t most_;
    std::list<class ConnectionSlot*> taken_;    // the oldest first
};

// The slot that a connection holds while it lives.
class ConnectionSlot final {
public:
    // `close` is called at most once, when another connection needs the slot.
    ConnectionSlot(ConnectionSlots& slots, std::function<void()> close);
    ~ConnectionSlot() { slots_.taken_.remove(this); }
    ConnectionSlot(const ConnectionSlot&) = delete;
    ConnectionSlot& operator=(const ConnectionSlot&) = delete;

private:
    friend class ConnectionSlots;

    ConnectionSlots& slots_;
    std::function<void()> close_;
};

}
