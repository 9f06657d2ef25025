"""What tests/bench/learning.py trains: an environment, settings, and the return that the lower end of the 95 % interval has to
reach. Without settings it is the configuration that lies beside the environment, or that has a name of its own."""
from dataclasses import dataclass

from command import ROOT

SOURCES = ROOT / 'env_sources'


@dataclass
class Task:
    environment: str
    bound: float
    settings: tuple = ()

    def source(self, folder):
        """The environment's name, or a file that is made here."""
        if self.environment != HIDDEN:
            return self.environment
        text = (SOURCES / 'cartpole.cu').read_text()
        for whole, part in (('float x, x_dot, theta, theta_dot; };\n\n    static void reset', 'float x, theta; };\n\n    static void reset'),
                            ('return {s.x, s.x_dot, s.theta, s.theta_dot};', 'return {s.x, s.theta};')):
            assert whole in text, whole
            text = text.replace(whole, part)
        path = f'{folder}/{HIDDEN}.cu'
        with open(path, 'w', encoding='utf-8') as file:
            file.write(text)
        return path


HIDDEN = 'cartpole_without_velocities'
FEW = ('env.count=8', 'learner.batch=128', 'policies.default.hidden=[64,64]', 'run.evaluate_every=0', 'solved.return=null')


def replay(environment, bound, learner, steps, *settings):
    """A learner with a replay, of few environments, as on a CPU."""
    return Task(environment, bound, settings=(f'learner.name={learner}', *FEW, f'run.total_steps={steps}', *settings))


TASKS = {
    'cartpole': Task('cartpole', 475),
    'acrobot': Task('acrobot', -100),
    'pendulum': Task('pendulum', -200),
    'mountain_car_continuous': Task('mountain_car_continuous', 90),
    'mountain_car': Task('mountain_car', -130),
    'tag_chase': Task('tag_chase', 9),
    'torch_lstm_cartpole_without_velocities': Task(HIDDEN, 475, settings=(
        'learner.name=torch_ppo', 'env.count=64', 'learner.horizon=64', 'learner.sequence=16', 'learner.entropy=0',
        'learner.learning_rate={"linear": [0.003, 0]}', 'policies.default.model={"name": "lstm"}', 'run.total_steps=1200000',
        'run.evaluate_every=0', 'solved.return=null')),
}
# Without a scale of rewards dqn misses the bound from one seed of five; torch_dqn was measured without one, over more steps.
ACROBOT = ('learner.updates=2', 'policies.default.hidden=[128,128]', 'learner.exploration={"linear": [1, 0.02]}', 'learner.least_exploration=0.01',
           'learner.learning_rate={"linear": [0.001, 0]}')
TASKS['dqn_acrobot'] = replay('acrobot', -85, 'dqn', 150000, *ACROBOT, 'learner.reward_scale=0.1', 'learner.max_gradient_norm=10')
TASKS['torch_dqn_acrobot'] = replay('acrobot', -85, 'torch_dqn', 250000, *ACROBOT)
# The same by kernels of ours and on LibTorch.
for torch in ('', 'torch_'):
    TASKS |= {
        f'{torch}dqn_cartpole': replay('cartpole', 475, f'{torch}dqn', 60000, 'learner.updates=2', 'learner.reward_scale=0.1',
                                       'learner.learning_rate={"linear": [0.001, 0]}', 'learner.batch=256', 'learner.max_gradient_norm=10',
                                       'policies.default.hidden=[128,128]'),
        f'{torch}sac_pendulum': replay('pendulum', -160, f'{torch}sac', 40000, 'learner.updates=2'),
        f'{torch}td3_pendulum': replay('pendulum', -160, f'{torch}td3', 40000, 'learner.updates=2'),
        f'{torch}sac_mountain_car_continuous': replay('mountain_car_continuous', 92, f'{torch}sac', 100000, 'learner.noise_steps=32',
                                                      'learner.warm_up=10000'),
        f'{torch}ddpg_mountain_car_continuous': replay('mountain_car_continuous', 90, f'{torch}ddpg', 100000, 'learner.noise_steps=16'),
    }
