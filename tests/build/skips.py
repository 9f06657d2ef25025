"""Only reasons of tests/skip_reasons.txt skip a test, and skips are counted by their kind."""
import json
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / 'tools'))

from bench import case, main  # noqa: E402


def ran(bench, *programs):
    """Runs tests that print these texts. Output of run_tests.py, the three counts, kinds of skips, and failures."""
    build = bench.folder / 'build'
    (build / 'meson-info').mkdir(parents=True, exist_ok=True)
    tests = [{'name': f'test_{number}', 'cmd': ['printf', '%s\n', text], 'workdir': None, 'timeout': 60, 'suite': ['plain'],
              'priority': 0, 'is_parallel': True, 'depends': [], 'env': {}} for number, text in enumerate(programs)]
    (build / 'meson-info/intro-tests.json').write_text(json.dumps(tests))
    (build / 'meson-info/intro-buildoptions.json').write_text(json.dumps([{'name': 'b_sanitize', 'value': 'none'}]))
    files = {name: bench.folder / name for name in ('counts', 'failures', 'skips')}
    for path in files.values():
        path.write_text('')
    words = [word for name, path in files.items() for word in (f'--{name}', path)]
    done = subprocess.run([sys.executable, '-B', bench.root / 'tools/build/run_tests.py', *words, build], capture_output=True, text=True)
    return done.stdout, [*map(int, files['counts'].read_text().split())], files['skips'].read_text().splitlines(), files['failures'].read_text()


@case
def skips_for_known_reasons_are_counted_by_their_kind(bench):
    said, counts, kinds, failures = ran(
        bench, 'skipped: a: b: cuda: libcuda.so.1 was not found (is an NVIDIA driver installed?)\nok c\n1 passed, 0 failed, 1 skipped',
        'skipped: only root can give a file to somebody else: only root can give a file to somebody else\n0 passed, 0 failed, 1 skipped',
        'skipped: `tools/nacelle test notebooks` installs PyTorch, and runs this\n0 passed, 0 failed, 1 skipped')
    assert counts == [1, 0, 3] and sorted(kinds) == ['by name only', 'no GPU', 'not root'] and failures == '', (said, kinds)


@case
def a_skip_for_another_reason_or_for_none_is_a_failure(bench):
    said, counts, kinds, failures = ran(bench, 'skipped: a: it rains\nok b\n1 passed, 0 failed, 1 skipped', '0 passed, 0 failed, 1 skipped')
    assert counts == [1, 2, 0] and kinds == [], (said, kinds)
    assert 'FAILED: no reason of tests/skip_reasons.txt: skipped: a: it rains' in failures, failures
    assert 'FAILED: skipped without a line that says why' in failures, failures


@case
def a_package_that_is_missing_is_named_with_the_reason(bench):
    said, counts, kinds, _ = ran(bench, 'skipped: a: there is no chromium, chromium-browser, google-chrome on PATH (Debian: chromium)\n'
                                        '0 passed, 0 failed, 1 skipped')
    assert counts == [0, 0, 1] and kinds == ['not installed'], said


raise SystemExit(main())
