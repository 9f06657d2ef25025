"""The sweep that several tests ask for, and what came of a sweep."""

QUICK = {"env": {"count": 64}, "run": {"total_steps": 12000}, "solved": {"return": None}}
VARIED = {"learner.learning_rate": {"from": 0.0005, "to": 0.005, "log": True}, "learner.epochs": {"from": 1, "to": 4}}


def quick(out, **changes):
    return {"env": "cartpole", "config": QUICK, "settings": VARIED, "trials": 3, "device": "cpu", "out": out, **changes}


def outcomes(found):
    return [(trial["number"], trial["state"], trial["score"], trial["settings"]) for trial in found.trials]
