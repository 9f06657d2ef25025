#include "tests/fuzz/client.h"

#include <algorithm>
#include <arpa/inet.h>
#include <chrono>
#include <netinet/in.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <thread>

namespace nacelle::fuzz {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::seconds patience{5};

// Closed at once: thousands of connections would else wait for a minute each, until no port is left.
void close_without_a_trace(int socket) {
    const linger none{1, 0};
    ::setsockopt(socket, SOL_SOCKET, SO_LINGER, &none, sizeof none);
}

}

Client::Client(unsigned port) : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_port = htons(uint16_t(port));
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    close_without_a_trace(socket_.get());
    if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&place), sizeof place) != 0)
        throw std::runtime_error("the server accepts no connection");
}

void Client::send(std::string_view bytes) {
    ::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
}

void Client::end_sending() { ::shutdown(socket_.get(), SHUT_WR); }

std::string Client::heard() {
    std::string bytes(1 << 16, '\0');
    const ssize_t count = ::recv(socket_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    bytes.resize(size_t(std::max<ssize_t>(count, 0)));
    return bytes;
}

std::string Client::receive_until(std::string_view end) {
    const Clock::time_point until = Clock::now() + patience;
    std::string all;
    while (all.find(end) == all.npos) {
        pollfd ready{.fd = socket_.get(), .events = POLLIN, .revents = 0};
        ::poll(&ready, 1, 100);
        const std::string more = heard();
        all += more;
        if (more.empty() && ready.revents)
            throw std::runtime_error("the server closes a good client's connection");
        if (Clock::now() > until)
            throw std::runtime_error("the server does not answer a good client");
    }
    return all;
}

std::string frame(unsigned char first, std::string_view text) {
    constexpr unsigned char mask[] = {0x12, 0x34, 0x56, 0x78};
    std::string bytes(1, char(first));
    if (text.size() < 126) bytes += char(0x80 | text.size());
    else {
        const bool wide = text.size() > 0xffff;
        bytes += char(0x80 | (wide ? 127 : 126));
        for (int shift = wide ? 56 : 8; shift >= 0; shift -= 8)
            bytes += char(uint64_t(text.size()) >> shift & 255);
    }
    bytes.append(reinterpret_cast<const char*>(mask), sizeof mask);
    for (size_t i = 0; i < text.size(); ++i) bytes += char(text[i] ^ mask[i % sizeof mask]);
    return bytes;
}

std::string upgrade(const std::string& path, unsigned port) {
    return "GET " + path + " HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) +
           "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
           "Sec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n";
}

}
