"""What a step takes and returns: arrays of NumPy, PyTorch or JAX."""
import sys

import numpy as np

from nacelle.spaces import TYPES


def opened(output, batch, copy):
    """The way of an environment's arrays into a library's: "numpy", "torch" or "jax"."""
    kinds = {"numpy": NumpyArrays, "torch": TorchTensors, "jax": JaxArrays}
    if output not in kinds:
        raise ValueError(f'output is {output!r}; there is "numpy", "torch" and "jax"')
    return kinds[output](batch, copy)


def on_gpu(array):
    """Whether an array of the engine lies in a GPU's memory."""
    return array.__dlpack_device__()[0] != 1


def on_host(array):
    """An array of the engine for NumPy: its memory itself on a CPU, a copy of what a GPU has."""
    if not on_gpu(array):
        return np.from_dlpack(array)
    copied = np.empty(array.shape, TYPES[array.dtype])
    array.read_into(copied)
    return copied


class NumpyArrays:
    """Arrays of the caller's own where `copy` is not False: those that he has let go of are filled again."""

    def __init__(self, batch, copy):
        self._batch, self._copy = batch, copy is not False

    def find(self, names, late):
        """Begins to return these arrays at each step, the last `late` ones where an episode has ended."""
        self._late = late
        self._sources = [self._batch.array(name) for name in names]
        self._shares = not self._copy and not any(map(on_gpu, self._sources))
        self._shared = [on_host(source) for source in self._sources] if self._shares else []
        self._sets, self._free = [], None

    def ordered(self, work):
        """Does work of the engine on arrays that the library may be using."""
        work()

    def step(self, actions):
        """One step: whether an episode has ended, and the arrays."""
        targets = self._targets()
        ended = self._batch.step_into(np.ascontiguousarray(actions), self._sources, targets, self._late)
        return ended, self._shared or targets

    def read(self):
        """The arrays as they are."""
        targets = self._targets()
        for source, target in zip(self._sources, targets):
            source.read_into(target)
        return self._shared or targets

    def one(self, name):
        """An array by its name."""
        return on_host(self._batch.array(name))

    def _targets(self):
        if self._shares:
            return []
        for targets in self._sets:
            if not self._copy or _references(targets) == self._free:
                return list(targets)
        targets = tuple(np.empty(source.shape, TYPES[source.dtype]) for source in self._sources)
        self._free = _references(targets)
        self._sets = [targets, *self._sets[:3]]
        return list(targets)


def _references(arrays):
    return [sys.getrefcount(array) for array in arrays]


class TorchTensors:
    """Tensors on the environment's device, which share the engine's memory unless `copy` is True. Work is ordered with
    PyTorch's current stream, and no thread waits."""

    def __init__(self, batch, copy):
        import torch
        self._torch, self._batch, self._copy = torch, batch, bool(copy)

    def find(self, names, late):
        """Begins to return these arrays at each step."""
        del late    # nobody knows whether an episode has ended
        self._tensors = {}
        self._shared = [self.one(name) for name in names]
        self._gpu = self._shared[0].is_cuda

    def ordered(self, work):
        """Does work of the engine behind that of PyTorch's current stream, and what is put there then behind it."""
        stream = self._stream()
        self._batch.wait_for(stream)
        work()
        self._batch.make_wait(stream)

    def step(self, actions):
        """One step; on a GPU nobody knows yet whether an episode has ended: None."""
        if self._gpu and self._torch.is_tensor(actions) and actions.is_cuda:
            actions = actions.detach().contiguous()
            self._batch.step_on_device(actions.data_ptr(), str(actions.dtype)[6:], actions.numel(), self._stream())
            return None, self._own(self._shared)
        given = np.ascontiguousarray(actions.cpu() if self._torch.is_tensor(actions) else actions)
        self.ordered(lambda: self._batch.step_into(given, [], [], 0))
        return None, self._own(self._shared)

    def read(self):
        """The arrays as they are; on a GPU the engine's stream is empty then."""
        return self._own(self._shared)

    def one(self, name):
        """An array by its name."""
        if name not in self._tensors:
            self._tensors[name] = self._torch.from_dlpack(self._batch.array(name))
        return self._tensors[name]

    def _stream(self):
        return self._torch.cuda.current_stream(self._shared[0].device).cuda_stream if self._gpu else 0

    def _own(self, tensors):
        return [tensor.clone() for tensor in tensors] if self._copy else list(tensors)


class _Copy:
    def __init__(self, array):
        self._array = array

    def __dlpack_device__(self):
        return self._array.__dlpack_device__()

    def __dlpack__(self, **settings):
        return self._array.__dlpack__(**settings | {"copy": True})


class JaxArrays:
    """Arrays of JAX, which never change, and so are copies, on the environment's device. Each step waits for its end."""

    def __init__(self, batch, copy):
        if copy is False:
            raise ValueError('an array of JAX never changes, and shares no memory that does: output="jax" takes no copy=False')
        import jax
        self._jax, self._batch = jax, batch

    def find(self, names, late):
        """Begins to return these arrays at each step."""
        del late
        self._names = names
        self._gpu = on_gpu(self._batch.array(names[0]))

    def ordered(self, work):
        """Does work of the engine: no array of JAX shares its memory."""
        work()

    def step(self, actions):
        """One step: None, since nobody has looked whether an episode has ended, and the arrays."""
        if self._gpu and isinstance(actions, self._jax.Array):
            actions = actions.block_until_ready()
            self._batch.step_on_device(actions.unsafe_buffer_pointer(), str(actions.dtype), actions.size, 0)
            self._batch.check()
            return None, self.read()
        return self._batch.step_into(np.ascontiguousarray(actions), [], [], 0), self.read()

    def read(self):
        """The arrays as they are."""
        return [self.one(name) for name in self._names]

    def one(self, name):
        """An array by its name."""
        array = self._batch.array(name)
        return self._jax.dlpack.from_dlpack(_Copy(array)) if on_gpu(array) else self._jax.numpy.array(np.from_dlpack(array))
