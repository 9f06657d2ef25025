"""What a step takes and returns: arrays of NumPy, PyTorch or JAX. All that can be made once is made in find().

find(names, late, packed, derives) begins to return these arrays at each step, with "done" before them, as `packed` puts
them in order: the arrays themselves ("nothing" is derived from them), "views" of them, or "copies". The last `late` ones
matter where an episode has ended."""
import math
import mmap

import numpy as np

from nacelle._engine import Error, OwnArrays, taken_type
from nacelle.checks import one_of
from nacelle.spaces import TYPES

_LINE, _LARGE_PAGE = 64, 2 << 20     # bytes
STEPS_UNTIL_WRITES = 256    # behind a catch-up, which costs what some forty steps that copy do


def opened(output, batch, copy):
    """The way of an environment's arrays into a library's: "numpy", "torch" or "jax"."""
    kinds = {"numpy": NumpyArrays, "torch": TorchTensors, "jax": JaxArrays}
    return kinds[one_of(output, "output", [*kinds])](batch, copy)


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
    """Arrays of the caller's own where `copy` is not False: those that he has let go of are filled again. On a CPU the engine
    then writes into them what no later step reads, and nothing is copied. For some steps behind a partial reset, a reload or an
    assignment it copies."""

    def __init__(self, batch, copy):
        self._batch, self._copy = batch, copy is not False
        self._written = self._copy      # whether the engine writes into the caller's
        self._last = None       # the arrays that it has written into, where its own are behind
        self._waits = 0         # steps that do not

    def find(self, names, late, packed, derives):
        """See above."""
        self._outputs, self._packed, self._derives = self._batch.outputs(names, late), packed, derives
        self._sources = self._outputs.arrays
        self._written_names = {source.name for source, written in zip(self._sources, self._outputs.written) if written}
        self._written = self._written and bool(self._written_names)
        self._form = [(source.shape, TYPES[source.dtype]) for source in self._sources]
        shares = not self._copy and not any(map(on_gpu, self._sources))
        self._shared = [on_host(source) for source in self._sources] if shares else None
        self._shown = packed(self._shared) if shares and derives != "copies" else None
        self._sets = []

    def ordered(self, work, anew=False):
        """Does work of the engine on arrays that the library may be using; `anew`: it fills them all."""
        if anew:
            self._last = None
        self._catch_up()
        work()

    def step(self, actions):
        """One step with the actions of each policy: whether an episode has ended, and the arrays."""
        given = [np.ascontiguousarray(each) for each in actions]
        if self._shared:
            ended = self._batch.step_from(given, self._outputs)
            return ended, self._shown or self._packed(self._shared)
        own, result = self._own()
        writes = self._written and not self._waits
        if self._waits:
            self._waits -= 1
        try:
            ended = self._batch.step_from(given, self._outputs, own, writes)
        except Error:
            self._last = None       # the step was taken, and the engine's arrays have what was wrong
            raise
        self._last = own if writes else None
        return ended, result or self._packed(own.arrays)

    def read(self):
        """The arrays as they are."""
        if self._shared:
            return self._shown or self._packed(self._shared)
        self._catch_up()
        own, result = self._own()
        arrays = own.arrays
        for source, target in zip(self._sources, arrays):
            source.read_into(target)
        return result or self._packed(arrays)

    @staticmethod
    def as_mask(mask):
        """A mask in the type that Gymnasium's spaces take."""
        return mask.view(np.int8)

    @staticmethod
    def places(ids):
        """Places in an array, as an index takes them."""
        return np.array(ids)

    @staticmethod
    def flags(flags):
        """Flags of environments for the host."""
        return flags

    @staticmethod
    def where(flags, these, others):
        """An array with the rows of one where flags of the host are set, else of the other, in the other's type."""
        others = np.asarray(others)
        return np.where(_of_rows(flags, others.ndim), np.asarray(these, others.dtype), others)

    @staticmethod
    def spread(flags, agents):
        """The flag of each environment for each of its agents."""
        return np.broadcast_to(flags[:, None], (len(flags), agents))

    def one(self, name):
        """An array by its name."""
        if name in self._written_names:
            self._catch_up()
            self._written = False       # whoever has the engine's memory sees each step in it
        return on_host(self._batch.array(name))

    def _catch_up(self):
        """Fills the engine's own arrays where the last step has written into the caller's."""
        if self._last is None:
            return
        for source, target in zip(self._sources, self._last.arrays):
            if source.name in self._written_names:
                source.write_from(target)
        self._batch.observe_again()     # the caller may have changed his
        self._last, self._waits = None, STEPS_UNTIL_WRITES

    def _own(self):
        """Arrays that nobody else holds, and what `packed` made of them where it derives nothing: who holds a view holds
        its array, which would not be seen of a view that is kept here, too. The first two sets, which take turns in a loop, share
        large pages, without which a step of 65,536 CartPoles takes a tenth longer (EPYC, 2026-11)."""
        for own, result in self._sets:
            if own.are_free() if self._copy else own.have_form():
                return own, result
        made = _in_large_pages(self._form, 2) if not self._sets else []
        made = made or [[np.zeros(shape, kind) for shape, kind in self._form]]    # a step writes few rows of last observations
        while made:
            own = OwnArrays(made.pop())
            result = self._packed(own.arrays) if self._derives == "nothing" else None
            own.count_from_now()
            self._sets = [(own, result), *self._sets[:3]]
        return own, result


def _in_large_pages(form, count):
    """So many sets of arrays of these shapes and types, in one piece of memory with large pages; none where it would be small."""
    sizes = [-(-math.prod(shape) * np.dtype(kind).itemsize // _LINE) * _LINE for shape, kind in form] * count
    if sum(sizes) < _LARGE_PAGE or not hasattr(mmap, "MADV_HUGEPAGE"):
        return []
    memory = mmap.mmap(-1, sum(sizes) + _LARGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    memory.madvise(mmap.MADV_HUGEPAGE)
    begin = -np.frombuffer(memory, np.uint8).ctypes.data % _LARGE_PAGE
    arrays = [np.ndarray(shape, kind, memory, begin + sum(sizes[:i])) for i, (shape, kind) in enumerate(form * count)]
    return [arrays[i:i + len(form)] for i in range(0, len(arrays), len(form))]


def _of_rows(flags, dimensions):
    """Flags of rows, for arrays of so many dimensions."""
    return flags.reshape(-1, *[1] * (dimensions - 1))


class TorchTensors:
    """Tensors on the environment's device, which share the engine's memory unless `copy` is True. Work is ordered with
    PyTorch's current stream, and no thread waits."""

    def __init__(self, batch, copy):
        import torch
        self._torch, self._batch, self._copy = torch, batch, bool(copy)
        first = torch.from_dlpack(batch.array("terminated"))
        self._device, self._gpu = first.device, first.is_cuda
        kinds = ("int32", "int64", "int16", "int8", "uint8", "bool", "uint16", "uint32", "float32", "float64")
        self._types = {getattr(torch, kind): taken_type(kind) for kind in kinds if hasattr(torch, kind)}
        # Tenths of a microsecond, where the public call makes an object of some microseconds.
        self._raw = getattr(torch._C, "_cuda_getCurrentRawStream", None) or (
            lambda index: torch.cuda.current_stream(index).cuda_stream)

    def find(self, names, late, packed, derives):
        """See above."""
        self._outputs, self._packed, self._tensors = self._batch.outputs(names, late), packed, {}
        self._early = len(names) + 1 - late
        self._sources = [self._torch.from_dlpack(array) for array in self._outputs.arrays]
        self._shown = None if self._copy or derives == "copies" else packed(self._sources)

    def ordered(self, work, anew=False):
        """Does work of the engine behind that of PyTorch's current stream, and what is put there then behind it."""
        del anew
        stream = self._stream()
        self._batch.wait_for(stream)
        work()
        self._batch.make_wait(stream)

    def step(self, actions):
        """One step; on a GPU nobody knows yet whether an episode has ended: None."""
        given = [self._taken(each) for each in actions]     # held until the engine has been told of them
        places = [(each.data_ptr(), self._types[each.dtype], each.numel()) for each in given]
        if not self._copy:
            ended = self._batch.step_at(places, self._stream(), self._outputs, ())
            return ended, self._shown or self._packed(self._sources)
        # A CPU's step fills few rows of the late ones.
        own = [self._torch.empty_like(tensor) if self._gpu or i < self._early else self._torch.zeros_like(tensor)
               for i, tensor in enumerate(self._sources)]
        ended = self._batch.step_at(places, self._stream(), self._outputs, [tensor.data_ptr() for tensor in own])
        return ended, self._packed(own)

    def read(self):
        """The arrays as they are; on a GPU the engine's stream is empty then."""
        return self._shown or self._packed([tensor.clone() for tensor in self._sources] if self._copy else self._sources)

    @staticmethod
    def as_mask(mask):
        """A mask as a step returns it."""
        return mask

    def places(self, ids):
        """Places in an array, as an index takes them."""
        return self._torch.as_tensor(ids, device=self._device)

    @staticmethod
    def flags(flags):
        """Flags of environments for the host; a GPU is waited for."""
        return flags.cpu().numpy()

    def where(self, flags, these, others):
        """A tensor with the rows of one where flags of the host are set, else of the other, in the other's type."""
        others = self._torch.as_tensor(others, device=self._device)
        these = self._torch.as_tensor(these, dtype=others.dtype, device=self._device)
        return self._torch.where(_of_rows(self._torch.as_tensor(flags, device=self._device), others.ndim), these, others)

    @staticmethod
    def spread(flags, agents):
        """The flag of each environment for each of its agents."""
        return flags[:, None].expand(-1, agents)

    def one(self, name):
        """An array by its name."""
        if name not in self._tensors:
            self._tensors[name] = self._torch.from_dlpack(self._batch.array(name))
        return self._tensors[name]

    def _taken(self, actions):
        """Actions where the environment is, in one piece."""
        if not isinstance(actions, self._torch.Tensor) or actions.is_cuda != self._gpu:
            actions = self._torch.as_tensor(actions, device=self._device)
        if actions.dtype not in self._types:
            taken_type(str(actions.dtype)[6:])      # says what is taken
        return actions if actions.is_contiguous() else actions.contiguous()

    def _stream(self):
        return self._raw(self._device.index) if self._gpu else 0


class JaxArrays:
    """Arrays of JAX, which never change, and so are copies, on the environment's device. Each step waits for its end."""

    def __init__(self, batch, copy):
        if copy is False:
            raise ValueError('an array of JAX never changes, and shares no memory that does: output="jax" takes no copy=False')
        import jax
        self._jax, self._batch = jax, batch

    def find(self, names, late, packed, derives):
        """See above."""
        del derives
        self._outputs = self._batch.outputs(names, late)
        # Their memory changes, and so they stay here.
        self._shared = [self._jax.dlpack.from_dlpack(array) for array in self._outputs.arrays]
        self._gpu = on_gpu(self._outputs.arrays[0])
        # One compiled call for all arrays: each alone would cost as much.
        self._own = self._jax.jit(lambda arrays: packed([array.copy() for array in arrays]))

    def ordered(self, work, anew=False):
        """Does work of the engine: no array of JAX outside shares its memory."""
        del anew
        work()

    def step(self, actions):
        """One step: whether an episode has ended, or None where nobody has looked, and the arrays."""
        if self._gpu and all(isinstance(each, self._jax.Array) for each in actions):
            given = self._jax.block_until_ready(list(actions))
            places = [(each.unsafe_buffer_pointer(), taken_type(str(each.dtype)), each.size) for each in given]
            self._batch.step_at(places, 0, self._outputs, ())
            self._batch.check()
            return None, self.read()
        ended = self._batch.step_from([np.ascontiguousarray(each) for each in actions], self._outputs)
        return ended, self.read()

    def read(self):
        """The arrays as they are."""
        return self._jax.block_until_ready(self._own(self._shared))

    @staticmethod
    def as_mask(mask):
        """A mask as a step returns it."""
        return mask

    @staticmethod
    def places(ids):
        """Places in an array, as an index takes them."""
        return np.array(ids)

    @staticmethod
    def flags(flags):
        """Flags of environments for the host."""
        return np.array(flags)

    def where(self, flags, these, others):
        """An array with the rows of one where flags of the host are set, else of the other, in the other's type."""
        others = self._jax.numpy.asarray(others)
        these = self._jax.numpy.asarray(these, others.dtype)
        return self._jax.block_until_ready(self._jax.numpy.where(_of_rows(flags, others.ndim), these, others))

    def spread(self, flags, agents):
        """The flag of each environment for each of its agents."""
        return self._jax.numpy.broadcast_to(flags[:, None], (len(flags), agents))

    def one(self, name):
        """An array by its name."""
        return self._jax.numpy.copy(self._jax.dlpack.from_dlpack(self._batch.array(name))).block_until_ready()
