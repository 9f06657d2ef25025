#include "engine/web/access.h"

#include <random>

namespace nacelle {
namespace {

// Takes the same time for every wrong token.
bool same(std::string_view guess, std::string_view token) {
    if (guess.size() != token.size()) return false;
    unsigned char difference = 0;
    for (size_t i = 0; i < token.size(); ++i)
        difference |= static_cast<unsigned char>(guess[i] ^ token[i]);
    return difference == 0;
}

bool is_ours(std::string_view host, unsigned port) {
    const std::string colon_port = ":" + std::to_string(port);
    return host == "127.0.0.1" + colon_port || host == "localhost" + colon_port;
}

}

std::string random_token() {
    std::random_device source;    // the kernel's
    std::string token;
    for (int i = 0; i < 4; ++i) {
        auto bits = static_cast<uint32_t>(source());
        for (int digit = 0; digit < 8; ++digit, bits >>= 4) token += "0123456789abcdef"[bits & 15];
    }
    return token;
}

Access check_access(const RequestHead& request, const std::string& token, unsigned port) {
    if (request.hosts != 1 || !is_ours(request.host, port))
        return {403, "this server answers to 127.0.0.1:" + std::to_string(port) + " alone"};
    constexpr std::string_view plain = "http://";
    if (request.origins > 1 ||
        (request.origins == 1 && (!request.origin.starts_with(plain) ||
                                  !is_ours(request.origin.substr(plain.size()), port))))
        return {403, "another page may not use this one"};
    if (request.method != "GET" && request.method != "HEAD") return {405, "there is only GET"};
    std::string_view path = request.target.substr(0, request.target.find('?'));
    if (!path.starts_with('/')) return {400, "no path"};
    path.remove_prefix(1);
    const size_t slash = path.find('/');
    if (slash == path.npos || !same(path.substr(0, slash), token))
        return {403, "the address lacks the token that nacelle has printed"};
    return {200, std::string(path.substr(slash + 1))};
}

}
