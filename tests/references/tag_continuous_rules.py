"""The rules of continuous Tag, and how near a step comes to where another turn would be taken (see make_tag_continuous.py)."""
import math

from team_tables import exact

LIMIT = 500
TURN = 2 * math.pi
DEFAULTS = {"length": 20, "max_speed": 1, "max_acceleration": 0.1, "max_turn": 2.356,
            "tagger_skill": 1, "runner_skill": 1, "edge_hit_penalty": 0, "tagging_distance": 0.02,
            "tag_reward_for_tagger": 10, "tag_penalty_for_runner": -10,
            "step_penalty_for_tagger": 0, "step_reward_for_runner": 0,
            "end_of_game_reward_for_runner": 1, "runner_exits": True}


class Rules:
    def __init__(self, constants, params):
        self.constants, self.given = constants, params
        self.taggers, self.runners = constants["taggers"], constants["runners"]
        self.agents = self.taggers + self.runners
        self.full = constants["observe_all"]
        self.neighbours = constants.get("neighbours", 10)
        self.levels = constants.get("acceleration_levels", 10), constants.get("turn_levels", 10)
        self.params = {**DEFAULTS, **params}


def everyone(_):
    return True


def some(agent):
    return agent % 6 == 1


class Risk:
    """The least distance from a threshold."""

    def __init__(self):
        self.least = 1.0

    def at(self, distance):
        self.least = min(self.least, abs(distance))


def level(index, count, most):
    """Index 0 does nothing, the others are evenly spaced from -most to most."""
    return 0.0 if index == 0 else -most + 2 * most * (index - 1) / (count - 1)


def move(agent, action, skill, rules, risk):
    """The agent after its move, and whether it went over an edge."""
    p = rules.params
    x, y, speed, direction, acceleration, in_game = agent
    faster = level(action[0], rules.levels[0], p["max_acceleration"])
    turn = level(action[1], rules.levels[1], p["max_turn"])
    acceleration += faster
    if turn != 0 and in_game:
        turned = direction + turn
        risk.at(turned - round(turned / TURN) * TURN)
    direction = (direction + turn) % TURN * in_game
    top = p["max_speed"] * skill
    wanted = speed + acceleration
    if acceleration != 0 and in_game:
        risk.at(wanted)
        risk.at(wanted - top)
    speed = min(max(wanted, 0), top) * in_game
    if speed <= 0 or speed >= top:
        acceleration = 0.0
    x += speed * math.cos(direction)
    y += speed * math.sin(direction)
    if speed > 0:
        for c in (x, y):
            risk.at(c)
            risk.at(c - p["length"])
    over = not (0 <= x <= p["length"] and 0 <= y <= p["length"])
    inside = [min(max(c, 0), p["length"]) for c in (x, y)]
    return (*inside, speed, direction, acceleration, in_game), over


def seen_of(me, other, kind, rules):
    p = rules.params
    across = math.sqrt(2) * p["length"]
    return [(other[0] - me[0]) / across, (other[1] - me[1]) / across,
            (other[2] - me[2]) / p["max_speed"], (other[4] - me[4]) / p["max_speed"],
            (other[3] - me[3]) / TURN, kind, other[5]]


def observe(rules, agents, t, risk=None):
    table = []
    for i, me in enumerate(agents):
        width = 7 * (rules.agents - 1 if rules.full else rules.neighbours) + 1
        if not me[5]:
            table.append([0] * width)
            continue
        others = [j for j in range(rules.agents) if j != i]
        if not rules.full:
            others = [j for j in others if agents[j][5]]
            far = {j: math.dist(me[:2], agents[j][:2]) for j in others}
            others.sort(key=lambda j: (far[j], j))
            last = min(len(others), rules.neighbours + 1)
            if risk:
                for j, k in zip(others[:last], others[1:last]):
                    if far[j] != far[k]:            # else an exact tie, made on purpose
                        risk.at(far[j] - far[k])
            others = others[:rules.neighbours]
        row = [x for j in others
               for x in seen_of(me, agents[j], int(j >= rules.taggers), rules)]
        table.append(row + [0] * (width - 1 - len(row)) + [t / LIMIT])
    return table


def step(rules, agents, actions, t, risk):
    """Agents after the step, rewards, observations, and whether no runner is left."""
    p = rules.params
    moved, reward = [], []
    for i, (agent, action) in enumerate(zip(agents, actions)):
        tagger = i < rules.taggers
        skill = p["tagger_skill"] if tagger else p["runner_skill"]
        now, over = move(agent, action if agent[5] else (0, 0), skill, rules, risk)
        moved.append(now)
        each = p["step_penalty_for_tagger"] if tagger else p["step_reward_for_runner"]
        reward.append((p["edge_hit_penalty"] * over + each) if agent[5] else 0)
    seen = observe(rules, moved, t, risk)
    close = p["tagging_distance"] * p["length"]
    after = list(moved)
    for i in range(rules.taggers, rules.agents):
        if not moved[i][5]:
            continue
        far = [math.dist(moved[i][:2], other[:2]) for other in moved[:rules.taggers]]
        nearest = far.index(min(far))
        risk.at(far[nearest] - close)
        if far[nearest] < close:
            for j, other in enumerate(far):
                if other != far[nearest]:           # else itself, or an exact tie
                    risk.at(other - far[nearest])
            reward[i] += p["tag_penalty_for_runner"]
            reward[nearest] += p["tag_reward_for_tagger"]
            if p["runner_exits"]:
                after[i] = (*moved[i][:5], 0)
        elif t == LIMIT:
            reward[i] += p["end_of_game_reward_for_runner"]
    nobody = not any(agent[5] for agent in after[rules.taggers:])
    return after, reward, seen, nobody
