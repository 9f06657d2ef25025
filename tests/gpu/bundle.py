"""The archive of tests for a GPU is small, runs from another folder, and counts passed, failed and skipped tests."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT, BUILD = Path(sys.argv[1]), Path(sys.argv[2])
CASES = []


def case(test):
    CASES.append(test)
    return test


def started(folder, *words, **changed):
    """Starts the runner with all GPUs hidden."""
    done = subprocess.run([sys.executable, folder / 'test-gpu', *words], env={**os.environ, 'CUDA_VISIBLE_DEVICES': '', **changed},
                          capture_output=True, text=True, timeout=120)
    return done.returncode, done.stdout.splitlines(), done.stderr


@case
def its_size_is_bounded(folder):
    archive = folder.parent / 'tests.tar.xz'
    assert 100_000 < archive.stat().st_size < 45_000_000, archive.stat().st_size


@case
def without_a_gpu_all_is_skipped_by_that_reason(folder):
    status, told, wrong = started(folder)
    assert status == 0 and wrong == '', (status, wrong)
    counts = re.fullmatch(r'0 passed, 0 failed, (\d+) skipped', told[-1])
    reasons = [line.strip() for line in told if line.strip().startswith('skipped: ')]
    assert counts and int(counts[1]) == len(reasons) > 25, told
    assert all('no GPU' in reason or 'cuda: ' in reason for reason in reasons), reasons


@case
def each_marked_case_is_a_test_beside_those_in_python_and_of_ranks(folder):
    _, told, _ = started(folder, '--list')
    for name in ('device: GPU: work takes time', 'ranks: splits', 'ranks: kills', 'runs: a_run_on_a_gpu_goes_on_to_the_same_bytes',
                 'torch: ppo_in_f32_leaves_the_weights_of_a_cpu', 'python: tensors_are_the_engines_memory'):
        assert name in told, (name, told)
    assert not any('fake' in name for name in told), told


@case
def its_programs_find_their_libraries_in_it(folder):
    paths = {'NACELLE_TEST_SOURCES': str(folder), 'NACELLE_TEST_BUILD': str(folder / 'build')}
    program, fake = folder / 'build' / 'tests' / 'test_device', folder / 'build' / 'tests' / 'device' / 'libfake_cuda.so'
    whole = subprocess.run([program], env={**os.environ, **paths}, capture_output=True, text=True, timeout=120)
    fake.rename(f'{fake}.away')
    without = subprocess.run([program], env={**os.environ, **paths}, capture_output=True, text=True, timeout=120)
    Path(f'{fake}.away').rename(fake)
    assert ' 0 failed, ' in whole.stdout.splitlines()[-1], whole.stdout
    assert ' 0 failed, ' not in without.stdout.splitlines()[-1], 'the driver of the build was taken'


@case
def a_test_that_takes_too_long_or_does_not_begin_fails(folder):
    for words, reason in ((('--seconds', '0'), 'not begun within 0 s'), (('--each', '0.001'), 'ended after')):
        status, told, _ = started(folder, '--only', '^device: GPU: work takes time$', *words)
        assert status == 1 and told[-1] == '0 passed, 1 failed, 0 skipped', told
        assert any(reason in line for line in told), told


def main():
    failed = 0
    with tempfile.TemporaryDirectory(prefix='nacelle-bundle-test-') as place:
        archive = Path(place) / 'tests.tar.xz'
        # One program is enough: the code for the other programs is the same.
        subprocess.run([sys.executable, '-B', ROOT / 'tools' / 'build' / 'bundle.py', ROOT, BUILD, archive, '', 'device'], check=True,
                       stdout=subprocess.DEVNULL)
        subprocess.run(['tar', 'xf', archive, '-C', place], check=True)
        for test in CASES:
            try:
                test(Path(place) / 'nacelle-gpu-tests')
                print('ok', test.__name__.replace('_', ' '), flush=True)
            except (AssertionError, OSError, subprocess.SubprocessError) as error:
                failed += 1
                print('FAILED', test.__name__.replace('_', ' '), error, flush=True)
    print(f'{len(CASES) - failed} passed, {failed} failed, 0 skipped')
    return 1 if failed else 0


raise SystemExit(main())
