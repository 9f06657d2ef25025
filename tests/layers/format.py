"""Every C++ file of the tree is as .clang-format has it. Other versions than 14 disagree with it."""
import re
import shutil
import subprocess
import sys
from pathlib import Path

FOLDERS = ('sdk', 'engine', 'algorithms', 'plugins', 'tools', 'tests', 'python')
SUFFIXES = {'.h', '.hpp', '.cpp'}


def formatter():
    """clang-format 14, or None."""
    for name in ('clang-format-14', 'clang-format'):
        path = shutil.which(name)
        if path:
            version = subprocess.run([path, '--version'], capture_output=True, text=True).stdout
            if re.search(r'version 14\.', version):
                return path
    return None


def that_differ(program, files):
    """Those whose text it would change, or a part of it that is badly laid out on purpose. One process looks at many
    files: most of the time of a process for each is its start."""
    found = []
    for begin in range(0, len(files), 200):
        some = [str(path) for path in files[begin:begin + 200]]
        done = subprocess.run([program, '--style=file', '--dry-run', '--Werror', *some], capture_output=True, text=True,
                              errors='replace')
        said = {line.split(':', 1)[0] for line in done.stderr.splitlines()}
        if done.returncode != 0 and not said & set(some):
            raise SystemExit(f'{program}: {done.stderr}')
        found += [path for path in files[begin:begin + 200] if str(path) in said]
    return found


def main():
    root = Path(sys.argv[1])
    program = formatter()
    if not program:
        print('skipped: the layout of the files: clang-format 14 is not installed')
        print('0 passed, 0 failed, 1 skipped')
        return 0
    files = sorted(path for folder in FOLDERS for path in (root / folder).rglob('*') if path.suffix in SUFFIXES)
    wrong = [path.relative_to(root) for path in that_differ(program, files)]
    for path in wrong:
        print(f'FAILED {path}: clang-format -i {path}')
    # Finding no file at all would make every check pass.
    failed = len(wrong) if files else 1
    print(f'{len(files) - len(wrong)} passed, {failed} failed, 0 skipped')
    return 1 if failed else 0


raise SystemExit(main())
