#pragma once
#include <string>
#include <string_view>

namespace nacelle {

// The parts of an HTTP request that decide whether it is answered.
struct RequestHead {
    std::string_view method, target;
    std::string_view host, origin;    // empty where there is none
    int hosts = 1, origins = 0;       // how many headers of each name
};

// The decision on a request.
struct Access {
    int status = 200;    // any other HTTP status refuses, and `name` is the reason
    std::string name;    // of the file: "page.css"; "" is the page itself
};

// 32 random hexadecimal digits.
std::string random_token();
Access check_access(const RequestHead& request, const std::string& token, unsigned port);

}
