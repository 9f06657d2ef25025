#include "tools/rank_sockets.h"

#include "engine/base/error.h"
#include "engine/run/rank_place.h"

#include <cerrno>
#include <cstring>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

namespace nacelle::tools {
namespace {

struct Free {
    void operator()(addrinfo* list) const { ::freeaddrinfo(list); }
};

std::unique_ptr<addrinfo, Free> addresses_of(const std::string& address, uint32_t port) {
    addrinfo hints{}, *found = nullptr;
    hints.ai_socktype = SOCK_STREAM;
    const int failed = ::getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found);
    if (failed) throw Error("MASTER_ADDR", address + " is not known: " + ::gai_strerror(failed));
    return std::unique_ptr<addrinfo, Free>(found);
}

Descriptor bound_socket(const sockaddr* address, socklen_t size) {
    Descriptor socket(::socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
    const int no = 0;
    if (address->sa_family == AF_INET6)    // IPv4, too, where the address is of all interfaces
        ::setsockopt(socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no);
    if (socket.get() < 0 || ::bind(socket.get(), address, size)) return Descriptor();
    return socket;
}

// True for an address that only this machine reaches.
bool is_local(const sockaddr* address) {
    if (address->sa_family == AF_INET6)
        return IN6_IS_ADDR_LOOPBACK(&reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr);
    const auto* const four = reinterpret_cast<const sockaddr_in*>(address);
    return address->sa_family == AF_INET && ntohl(four->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
}

// Binds to all interfaces, by IPv6 and IPv4, or by IPv4 alone on a machine without IPv6.
Descriptor bound_anywhere() {
    sockaddr_in6 six{};
    six.sin6_family = AF_INET6;
    Descriptor socket = bound_socket(reinterpret_cast<sockaddr*>(&six), sizeof six);
    if (socket.get() >= 0) return socket;
    sockaddr_in four{};
    four.sin_family = AF_INET;
    return bound_socket(reinterpret_cast<sockaddr*>(&four), sizeof four);
}

// Binds to the interface of this address. Two kinds of names need all interfaces: Debian gives a host's own name a
// loopback address, and a cluster may forward an address that no interface has.
Descriptor bound_to(const std::string& address) {
    const auto found = addresses_of(address, 0);
    for (const addrinfo* at = found.get(); at; at = at->ai_next) {
        if (is_local(at->ai_addr) && address != loopback_address) continue;
        Descriptor socket = bound_socket(at->ai_addr, at->ai_addrlen);
        if (socket.get() >= 0) return socket;
    }
    return address == loopback_address ? Descriptor() : bound_anywhere();
}

}

std::string host_name() {
    char host[256] = "this-machine";
    ::gethostname(host, sizeof host - 1);
    return host;
}

Listener listen_at(const std::string& address) {
    Descriptor socket = bound_to(address);
    if (socket.get() < 0)
        throw Error("ranks", address + " has no free port: " + std::strerror(errno));
    sockaddr_storage place{};
    socklen_t size = sizeof place;
    if (::listen(socket.get(), SOMAXCONN) ||
        ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&place), &size))
        throw Error("ranks", std::string("cannot listen: ") + std::strerror(errno));
    const uint16_t port = place.ss_family == AF_INET6
                              ? reinterpret_cast<const sockaddr_in6&>(place).sin6_port
                              : reinterpret_cast<const sockaddr_in&>(place).sin_port;
    return {std::move(socket), ntohs(port)};
}

Descriptor accept_from(int listener) {
    return Descriptor(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
}

Descriptor connect_to(const std::string& address, uint32_t port) {
    const auto found = addresses_of(address, port);
    int failed = 0;
    for (const addrinfo* at = found.get(); at; at = at->ai_next) {
        Descriptor socket(::socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
        if (socket.get() >= 0 && ::connect(socket.get(), at->ai_addr, at->ai_addrlen) == 0)
            return socket;
        failed = errno;
    }
    throw Error("ranks", "rank 0 cannot be reached at " + address + ", port " +
                             std::to_string(port) + ": " + std::strerror(failed));
}

void send_line(int socket, const std::string& line) {
    const std::string text = line + "\n";
    if (socket >= 0 && ::send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
        return;
}

bool receive_some(int socket, std::string& text) {
    char some[4096];
    while (true) {
        const ssize_t count = ::recv(socket, some, sizeof some, MSG_DONTWAIT);
        if (count > 0) text.append(some, size_t(count));
        else return count < 0 && (errno == EAGAIN || errno == EINTR);
    }
}

bool peek_line(int socket, std::string& line) {
    char some[512];
    const ssize_t count = ::recv(socket, some, sizeof some, MSG_PEEK | MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
    line.assign(some, size_t(count > 0 ? count : 0));
    const size_t end = line.find('\n');
    if (end == std::string::npos) {
        const bool whole = count <= 0 || count == ssize_t(sizeof some);    // gone, or no rank
        if (whole) line.clear();
        return whole;
    }
    line.resize(end);
    return ::recv(socket, some, end + 1, MSG_DONTWAIT) == ssize_t(end + 1);
}

}
