// The order in which an author's code draws random numbers, by its text.
#include "engine/check/checks.h"
#include "engine/jit/draw_order.h"

namespace nacelle {

Finding check_draw_order(Session& session) {
    const std::vector<OpenDraws> found =
        find_open_draws(read_closure(session.subject().settings.source));
    if (found.empty()) return passed("every draw of a random number has its place in the order");
    const OpenDraws& first = found.front();
    std::string what = first.file.filename().string() + ":" + std::to_string(first.line) +
                       ": two draws from '" + first.generator +
                       "' in one expression: C++ leaves open which comes first, and the compilers "
                       "of CPU and GPU choose differently";
    if (found.size() > 1) what += ", and " + std::to_string(found.size() - 1) + " more";
    return refused(what, "name each draw on a line of its own: const int x = " + first.generator +
                             ".below(9);");
}

}
