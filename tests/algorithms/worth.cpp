#include "tests/algorithms/recomputed.h"

namespace nacelle::test {

Worth worth_of(const Credit& credit, const std::vector<double>& reward,
               const std::vector<uint8_t>& flag, const std::vector<double>& value,
               const std::vector<double>& final_value, const std::vector<double>& ratio,
               bool waits) {
    const size_t steps = reward.size();
    Worth worth{std::vector<double>(steps, 0.0), std::vector<double>(steps, 0.0),
                std::vector<bool>(steps, true)};
    // Own turn t: what it brings until the next own turn, whose step is `next`, or `steps`.
    struct Turn {
        double reward = 0, after = 0;
        size_t next = 0;
    };
    std::vector<Turn> turns(steps);
    for (size_t t = 0; t < steps; ++t) {
        if (!Kept::acted(flag[t])) continue;
        Turn& turn = turns[t];
        turn.next = steps;
        for (size_t s = t; s < steps; ++s) {
            if (s > t && Kept::acted(flag[s])) {
                turn.next = s;
                turn.after = value[s];
                break;
            }
            turn.reward += reward[s];
            if (Kept::ends(flag[s])) {
                turn.after = Kept::cut(flag[s]) ? final_value[s] : 0;
                break;
            }
            if (s + 1 == steps) {
                turn.after = value[steps];
                worth.known[t] = !waits;
            }
        }
    }
    const auto rho = [&](size_t t) {
        return credit.traced ? std::min(ratio[t], credit.ratio_bound) : 1;
    };
    const auto error = [&](size_t t) {
        return turns[t].reward + credit.gamma * turns[t].after - value[t];
    };
    for (size_t t = 0; t < steps; ++t) {
        if (!Kept::acted(flag[t])) continue;
        double factor = 1, sum = 0;
        for (size_t s = t; s < steps && worth.known[s]; s = turns[s].next) {
            sum += factor * rho(s) * error(s);
            factor *= credit.gamma * credit.lambda *
                      (credit.traced ? std::min(ratio[s], credit.trace_bound) : 1);
        }
        worth.advantage[t] = sum;
        worth.target[t] = value[t] + sum;
    }
    if (!credit.traced) return worth;
    for (size_t t = 0; t < steps; ++t) {
        if (!Kept::acted(flag[t]) || !worth.known[t]) continue;
        const size_t next = turns[t].next;
        const double after = next < steps ? worth.target[next] : turns[t].after;
        worth.advantage[t] = rho(t) * (turns[t].reward + credit.gamma * after - value[t]);
    }
    return worth;
}

}
