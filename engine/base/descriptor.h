#pragma once
#include <unistd.h>
#include <utility>

namespace nacelle {

// Owns an open file descriptor; -1 is none.
class Descriptor final {
public:
    explicit Descriptor(int number = -1) : number_(number) {}
    ~Descriptor() { close(); }
    Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        close();
        number_ = std::exchange(other.number_, -1);
        return *this;
    }

    int get() const { return number_; }
    // Closes now; false where the system reports a late write error.
    bool close() { return number_ < 0 || ::close(std::exchange(number_, -1)) == 0; }

private:
    int number_;
};

}
