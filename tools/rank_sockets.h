#pragma once
#include "engine/base/descriptor.h"

#include <cstdint>
#include <string>

// Lines of text between ranks, over TCP.
namespace nacelle::tools {

std::string host_name();

struct Listener {
    Descriptor socket;
    uint32_t port = 0;
};
// Listens on a free port, on the interface of rank 0's address.
Listener listen_at(const std::string& address);
// The next one that has connected; none: -1. It does not wait.
Descriptor accept_from(int listener);
// Throws where nobody listens there.
Descriptor connect_to(const std::string& address, uint32_t port);

// Not sent where the other end is gone or does not read: who watches finds that out.
void send_line(int socket, const std::string& line);
// Adds what has come, without waiting; false where the other end is gone.
bool receive_some(int socket, std::string& text);
// Takes the first line without waiting, and nothing behind it. False until it is whole; an empty one where the other end is gone.
bool peek_line(int socket, std::string& line);

}
