"""The Python package, from a build: teams as dicts by policy, and one team for PettingZoo."""
import time
import warnings
from pathlib import Path

import numpy as np

import nacelle
from cases import case, refused, run_cases


def tag(count=3, **settings):
    return nacelle.make_vec("tag_gridworld", num_envs=count, device="cpu", **settings)


def chosen(env, seed=1):
    env.action_space.seed(seed)
    return env.action_space.sample()


@case
def a_team_is_dicts_by_policy():
    env = tag()
    assert isinstance(env, nacelle.TeamEnv) and env.policies == {"tagger": 4, "runner": 1}
    seen, info = env.reset(seed=1)
    assert env.observation_space.contains(seen) and info == {}
    assert seen["tagger"].shape == (3, 4, 21) and seen["runner"].shape == (3, 1, 21)
    rows = env.arrays["obs"].reshape(3, 5, 21)
    assert np.array_equal(seen["tagger"], rows[:, :4]) and np.array_equal(seen["runner"], rows[:, 4:])
    actions = chosen(env)
    seen, reward, terminated, truncated, _ = env.step(actions)
    assert np.array_equal(env.arrays["action.move"].reshape(3, 5), np.hstack([actions["tagger"], actions["runner"]]))
    assert reward["tagger"].shape == terminated["tagger"].shape == truncated["tagger"].shape == (3, 4)
    assert not terminated["runner"].any() and terminated["runner"].dtype == bool
    refused(TypeError, lambda: env.step(np.zeros((3, 5), int)), "actions are a dict by policy, of ['tagger', 'runner']")
    env.close()
    refused(RuntimeError, env.reset, "closed")
    swarm = nacelle.make_vec("pursuit_swarm", num_envs=2, device="cpu")
    assert swarm.policies == {"predator": 32, "prey": 224}
    swarm.reset(seed=1)
    actions = chosen(swarm)
    assert actions["prey"].shape == (2, 224, 2)
    swarm.step(actions)
    assert np.array_equal(swarm.arrays["prey.action.thrust"].reshape(2, 224), actions["prey"][:, :, 1])


@case
def policies_may_be_given_any_agents():
    env = tag(settings={"env": {"policies": {"a": [0, 1, 3], "b": 2, "runner": 4}}})
    assert env.policies == {"a": 3, "b": 1, "runner": 1}
    seen, _ = env.reset(seed=1)
    rows = env.arrays["obs"].reshape(3, 5, 21)
    assert np.array_equal(seen["a"], rows[:, [0, 1, 3]]) and np.array_equal(seen["b"], rows[:, 2:3])
    actions = {"a": np.array([[1, 2, 3]] * 3), "b": np.full((3, 1), 4), "runner": np.zeros((3, 1), np.int8)}
    env.step(actions)
    assert np.array_equal(env.arrays["action.move"].reshape(3, 5), [[1, 2, 4, 3, 0]] * 3)
    shared = tag(settings={"env": {"policies": {"a": [0, 1, 3], "b": 2, "runner": 4}}}, copy=False)
    shared.reset(seed=1)
    assert all(np.array_equal(shared.step(actions)[0]["a"], shared.arrays["obs"].reshape(3, 5, 21)[:, [0, 1, 3]]) for _ in range(3))


@case
def an_episode_that_ends_leaves_its_last_observations():
    env = tag(settings={"env": {"constants": {"time_limit": 5}}})
    env.reset(seed=1)
    for step in range(5):
        seen, _, terminated, truncated, info = env.step(chosen(env, step))
        assert ("final_obs" in info) == (step == 4)
    assert truncated["tagger"].all() and not terminated["tagger"].any() and info["_final_obs"].all()
    assert (info["final_obs"]["runner"][..., -1] == 1).all() and (seen["runner"][..., -1] == 0).all()
    episode = info["final_info"]["episode"]
    assert (episode["l"] == 5).all() and episode["r"]["tagger"].shape == (3, 4)


@case
def what_is_kept_stays_and_what_is_shared_does_not():
    env, shared = tag(), tag(copy=False)
    env.reset(seed=1)
    first, _ = shared.reset(seed=1)
    assert first["tagger"].base is not None and first["tagger"].ctypes.data == shared._batch.array("obs").pointer
    kept = []
    for step in range(12):
        seen, reward, *_ = env.step(chosen(env, step))
        kept.append((seen["tagger"], seen["tagger"].copy(), reward["runner"], reward["runner"].copy()))
        shown = shared.step(chosen(env, step))[0]
        assert shown["tagger"] is first["tagger"] and np.array_equal(shown["tagger"], seen["tagger"])
    assert all(np.array_equal(one, other) and np.array_equal(got, was) for one, other, got, was in kept)


@case
def turns_and_masks_are_in_info():
    env = nacelle.make_vec("connect_four", num_envs=64, device="cpu", opening=0)        # an empty board
    _, info = env.reset(seed=1)
    mask, acts = info["action_mask"]["agent"], info["acts"]["agent"]
    assert mask.shape == (64, 2, 7) and mask.dtype == np.int8 and mask.all()
    assert (acts.sum(1) == 1).all() and info["plays"]["agent"].all()
    random = np.random.default_rng(1)
    for _ in range(60):
        actions = (random.random(mask.shape) * mask).argmax(2)
        _, reward, terminated, _, info = env.step({"agent": actions})
        assert (info["acts"]["agent"][~terminated["agent"][:, 0]] != acts[~terminated["agent"][:, 0]]).all()
        assert (reward["agent"].sum(1) == 0).all()
        mask, acts = info["action_mask"]["agent"], info["acts"]["agent"]


@case
def who_leaves_has_come_to_an_end():
    env = nacelle.make_vec("tag_continuous", num_envs=16, device="cpu", tagging_distance=0.5,
                           settings={"env": {"constants": {"runners": 6, "taggers": 5}}})
    _, info = env.reset(seed=1)
    left, plays = 0, info["plays"]["runner"]
    for step in range(200):
        _, _, terminated, _, info = env.step(chosen(env, step))
        on = ~terminated["tagger"].all(1)
        gone = plays & ~info["plays"]["runner"]
        assert np.array_equal(gone[on], terminated["runner"][on])
        left += gone[on].sum()
        plays = info["plays"]["runner"]
    assert left > 3


@case
def what_may_not_be_is_refused_with_a_sentence():
    env = tag()
    env.reset(seed=1)
    actions = chosen(env)
    refused(ValueError, lambda: env.step({"tagger": actions["tagger"]}), "['tagger', 'runner'] are taken")
    refused(ValueError, lambda: env.step(actions | {"tagger": actions["tagger"][:2]}), "actions of tagger have the shape (2, 4)")
    bad = actions["tagger"].copy()
    bad[2, 1] = 5
    refused(ValueError, lambda: env.step(actions | {"tagger": bad}), "action.move of tagger 1 in environment 2 is 5; it is one of 0 to 4")
    refused(ValueError, lambda: nacelle.TeamEnv("cartpole", 2, device="cpu"), "nacelle.Env")
    refused(ValueError, lambda: tag(autoreset_mode="NextStep"), "same step")
    mask = np.arange(3) == 1
    begun, _ = env.reset(options={"reset_mask": mask})
    assert (begun["runner"][mask, 0, -1] == 0).all()
    env.close()
    refused(RuntimeError, lambda: env.step(actions), "closed")


@case
def a_team_goes_on_from_a_snapshot_and_in_another_version():
    text = (nacelle.engine.ENVIRONMENTS / "tag_gridworld.cu").read_text()
    env = nacelle.TeamEnv.from_source(text, 3, device="cpu", reload_on_save=True)
    env.reset(seed=1)
    kept = env.step(chosen(env))[0]
    env.save_snapshots([2])
    env.step(chosen(env, 2))
    seen, info = env.restore_snapshots([0], [0])
    assert info == {} and all(np.array_equal(seen[name][0], kept[name][2]) for name in kept)
    Path(env.description["source"]).write_text(text.replace("NACELLE_ENV(", "// saved\nNACELLE_ENV("))
    version, deadline = env._door._outputs, time.monotonic() + 100
    while env._door._outputs is version:
        assert time.monotonic() < deadline
        seen, *_ = env.step(chosen(env))
        time.sleep(0.01)
    assert np.array_equal(seen["tagger"], env.arrays["obs"].reshape(3, 5, 21)[:, :4])


@case
def one_team_is_for_pettingzoo():
    try:
        from pettingzoo.test import parallel_api_test
    except ImportError:
        refused(ModuleNotFoundError, lambda: nacelle.parallel_env("tag_gridworld"), "pip install pettingzoo")
        return
    leaving = {"settings": {"env": {"constants": {"runners": 6, "taggers": 5}}}, "tagging_distance": 0.3}
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        for name, settings in (("tag_gridworld", {}), ("connect_four", {}), ("tag_continuous", leaving)):
            parallel_api_test(nacelle.parallel_env(name, **settings), num_cycles=300)
    env = nacelle.parallel_env("connect_four", render_mode="rgb_array")
    assert env.possible_agents == ["agent_0", "agent_1"] and env.agents == []
    refused(ValueError, lambda: env.step({}), "reset()")
    seen, infos = env.reset(seed=1)
    starter = next(agent for agent in env.agents if infos[agent]["acts"])
    assert sum(its["acts"] for its in infos.values()) == 1 and infos[starter]["action_mask"].all()
    refused(ValueError, lambda: env.step({"agent_0": 1}), "['agent_0', 'agent_1'] are taken")
    for wrong, error in (1.9, "float64"), ("1", "<U1"), ([1], "shape (1,)"):
        refused((TypeError, ValueError), lambda: env.step({"agent_0": 1, "agent_1": wrong}), error)
    for move in range(7):       # four on each other, while the other's lie beside them
        column = move % 2
        seen, rewards, terminated, _, _ = env.step(dict.fromkeys(env.agents, column))
    assert rewards == {agent: 1.0 if agent == starter else -1.0 for agent in env.possible_agents} and all(terminated.values())
    assert env.agents == [] and seen[starter].sum() >= 7 and env.render().ndim == 3
    env.reset(seed=1)
    for _ in range(6):          # a column that is full is closed, also for who has left
        env.step(dict.fromkeys(env.agents, 0))
    assert sorted(env._allowed("agent", env._one.action_space["agent"])[0]) == [0, 1]      # who waits may do anything


@case
def a_team_that_sees_images_alone_shows_no_numbers():
    source = Path(__file__).parents[1] / "algorithms" / "environments" / "lookouts.cu"
    env = nacelle.make_vec(source, 4, device="cpu")
    seen, info = env.reset(seed=1)
    assert {name: part.shape for name, part in seen["agent"].items()} == {"own": (4, 3, 4, 4), "fire": (4, 3, 2, 4)}
    assert env.observation_space.contains(seen) and info["action_mask"]["agent"].shape == (4, 3, 3)
    for _ in range(6):
        seen, *_, info = env.step({"agent": np.zeros((4, 3), np.int64)})
    assert (info["final_obs"]["agent"]["own"].sum((2, 3)) == 1).all()
    alone = nacelle.parallel_env(source)
    shown = alone.reset(seed=1)[0]
    assert all(alone.observation_space(agent).contains(part) for agent, part in shown.items())


run_cases()
