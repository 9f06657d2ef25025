"""The machine under the tests: GPUs, NVRTC, LibTorch, NCCL, and whether Python loads the extension."""
import ctypes
import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path


def gpus():
    """Returns the number of GPUs that the driver shows, and the reason for 0."""
    try:
        driver = ctypes.CDLL('libcuda.so.1')
    except OSError as error:
        return 0, f'no GPU: {error}'
    count = ctypes.c_int()
    if (wrong := driver.cuInit(0)) or (wrong := driver.cuDeviceGetCount(ctypes.byref(count))):
        return 0, f'no GPU: the NVIDIA driver answers with error {wrong}'
    return count.value, '' if count.value else 'no GPU: the NVIDIA driver finds none'


def wheel_folders(pattern):
    """Returns the folders with such a file in NVIDIA's packages for this Python."""
    found = importlib.util.find_spec('nvidia')
    places = found.submodule_search_locations if found else []
    return sorted({str(path.parent) for place in places for path in Path(place).glob(f'*/lib/{pattern}')})


def nvrtc_folders():
    """Returns folders with NVRTC: of toolkits, which the engine finds unaided, or else of wheels."""
    roots = [os.environ.get('CUDA_HOME', ''), os.environ.get('CUDA_PATH', ''), '/usr/local/cuda', '/opt/cuda']
    toolkits = {(Path(root) / lib).resolve() for root in roots if root for lib in ('lib64', 'lib')}
    found = sorted(str(folder) for folder in toolkits if any(folder.glob('libnvrtc.so*')))
    return (found, []) if found else ([], wheel_folders('libnvrtc.so*'))


def torch_folder(wanted):
    """Returns the folder of LibTorch in this Python, or None and the reason."""
    found = importlib.util.find_spec('torch')
    if not found or not found.submodule_search_locations:
        return None, f'python3 ({sys.executable}) has no torch'
    folder = Path(found.submodule_search_locations[0])
    done = subprocess.run([sys.executable, '-c', 'import torch; print(torch.__version__, torch.cuda.is_available())'], capture_output=True, text=True)
    version, gpu = done.stdout.split()[-2:] if done.returncode == 0 else ('', '')
    if not version:
        return None, f'torch of python3 cannot be imported: {last_line(done.stderr)}'
    if version.split('+')[0] != wanted:
        return None, f'python3 has torch {version}, and the learners on LibTorch of this archive were built for {wanted}'
    return (folder / 'lib', '') if gpu == 'True' else (None, f'torch {version} of python3 sees no GPU')


def nccl_library():
    """Returns the path of NCCL, or no path if the loader finds the library by name, and the reason if there is no NCCL."""
    wheels = [f'{folder}/libnccl.so.2' for folder in wheel_folders('libnccl.so.2')]
    if path := next(filter(None, [os.environ.get('NACELLE_NCCL'), *wheels]), ''):
        return path, ''
    try:
        ctypes.CDLL('libnccl.so.2')
    except OSError:
        return '', 'no NCCL: libnccl.so.2 is neither in a wheel of python3 nor in the system'
    return '', ''


def last_line(text):
    return (text.strip().splitlines() or ['it says nothing'])[-1]


class Machine:
    """The parts that tests use, with a reason for each missing part."""

    def __init__(self, here):
        self.here = here
        self.bundle = json.loads((here / 'bundle.json').read_text())
        # Short: sockets have names of at most 108 bytes.
        self.folder = here / 'run'
        self.folder.mkdir(exist_ok=True)
        os.environ['TMPDIR'] = str(self.folder)
        self.gpus, self.no_gpu = gpus()
        self.toolkits, self.nvrtc_wheels = nvrtc_folders()
        self.torch, self.no_torch = torch_folder(self.bundle['torch']) if self.bundle['torch'] else (None, 'this archive was built without LibTorch')
        self.nccl, self.no_nccl = nccl_library()
        self.compiler = shutil.which('c++')
        self.environment = self.variables()
        self.no_python = self.binding_trouble()

    def variables(self):
        folders = [self.here / 'build' / name for name in ('plugins', 'plugins/torch', 'algorithms')]
        folders += [self.torch] if self.torch else []
        folders += self.nvrtc_wheels
        changes = {'NACELLE_TEST_SOURCES': str(self.here), 'NACELLE_TEST_BUILD': str(self.here / 'build'),
                   'LD_LIBRARY_PATH': ':'.join([*map(str, folders), *filter(None, [os.environ.get('LD_LIBRARY_PATH')])]),
                   'PYTHONPATH': f'{self.here / "build" / "python_tree"}:{self.here / "packages"}', 'PYTHONDONTWRITEBYTECODE': '1'}
        return changes | ({'NACELLE_NCCL': self.nccl} if self.nccl else {})

    def of_part(self, part):
        """Returns the environment variables for a part's tests, as in the build."""
        own = {name: value.replace('@root@', str(self.here)) for name, value in self.bundle['environments'][part].items()}
        if ' ' in str(self.here):    # the engine takes $CXX for words
            own.pop('CXX', None)
        return {**own, **self.environment}

    def binding_trouble(self):
        """Lays out the Python package, and returns the reason if this Python cannot import it."""
        build = self.here / 'build'
        subprocess.run([sys.executable, '-B', self.here / 'python' / 'tree.py', self.here, build, build / 'python_tree', self.folder / 'tree.stamp',
                        self.folder / 'tree.d'], check=True)
        done = subprocess.run([sys.executable, '-c', 'import nacelle'], env={**os.environ, **self.environment}, capture_output=True, text=True)
        if done.returncode == 0:
            return ''
        return (f'python3, which is {platform.python_version()}, cannot import the package nacelle: {last_line(done.stderr)} '
                f'(the extension of this archive was built for: {self.bundle["python"]})')

    def description(self):
        def told(what, found):
            return f'{what:<9} {found}'
        yield told('GPU', f'{self.gpus}' + (f' ({self.no_gpu})' if self.no_gpu else ''))
        yield told('NVRTC', ', '.join(self.toolkits or self.nvrtc_wheels) or 'neither in a toolkit nor in a wheel of python3')
        yield told('LibTorch', self.torch or self.no_torch)
        yield told('NCCL', self.nccl or self.no_nccl or 'libnccl.so.2 of the system')
        yield told('Python', f'{platform.python_version()}, {self.no_python or "with the package nacelle"}')
        yield told('compiler', self.compiler or 'no c++: what runs on a CPU, too, cannot be compiled')
        yield told('archive', f'{self.bundle["revision"]}, unpacked to {self.here}')
