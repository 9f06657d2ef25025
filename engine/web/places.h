#pragma once
#include <cstddef>
#include <functional>
#include <list>

namespace nacelle {

// Room for connections of one kind. Whoever comes when all places are taken gets that of the oldest,
// which is closed: connections that do nothing cannot keep others out.
class Places final {
public:
    explicit Places(size_t most) : most_(most) {}

    // Closes the connection that has waited the longest, and says whether there was one.
    bool close_oldest();

private:
    friend class Place;

    size_t most_;
    std::list<class Place*> taken_;    // the oldest first
};

// A connection's place, as long as it lives.
class Place final {
public:
    // `close` is called at most once, by another that needs the place.
    Place(Places& places, std::function<void()> close);
    ~Place() { places_.taken_.remove(this); }
    Place(const Place&) = delete;
    Place& operator=(const Place&) = delete;

private:
    friend class Places;

    Places& places_;
    std::function<void()> close_;
};

}
