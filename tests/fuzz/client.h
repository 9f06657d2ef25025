#pragma once
#include "engine/base/descriptor.h"

#include <string>
#include <string_view>

namespace nacelle::fuzz {

// A connection to a server of this machine, which says whatever it is told to.
class Client final {
public:
    // Throws where nobody listens, or where the server does not accept it within a few seconds.
    explicit Client(unsigned port);

    // As much of it as the other side takes at once; what it refuses to hear is no matter.
    void send(std::string_view bytes);
    // Ends this side's half.
    void end_sending();
    // What has come by now, without waiting.
    std::string heard();
    // What comes until `end` is among it. Throws where that takes longer than a good client waits.
    std::string receive_until(std::string_view end);

private:
    Descriptor socket_;
};

// A frame of a WebSocket as a client sends it (RFC 6455): `first` has the last-frame bit and the opcode.
std::string frame(unsigned char first, std::string_view text);
// The request that makes a connection a WebSocket.
std::string upgrade(const std::string& path, unsigned port);

}
