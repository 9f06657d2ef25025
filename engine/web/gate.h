#pragma once
#include <string>
#include <string_view>

namespace nacelle {

// What a request says of itself, as far as it matters for letting it in.
struct Knock {
    std::string_view method, target;
    std::string_view host, origin;    // empty: none
    int hosts = 1, origins = 0;       // how many there are
};

// Who may come in, and to what.
struct Pass {
    int status = 200;    // else an HTTP status, with `name` as the reason
    std::string name;    // what is asked for: "page.css"; "" is the page itself
};

// 32 hexadecimal digits that nobody can guess.
std::string random_token();
Pass judge(const Knock& knock, const std::string& token, unsigned port);

}
