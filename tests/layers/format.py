"""Every C++ file of the tree is as .clang-format has it. Other versions than 14 disagree with it."""
import re
import shutil
import subprocess
import sys
from pathlib import Path

FOLDERS = ('sdk', 'engine', 'algorithms', 'plugins', 'tools', 'tests')
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


def differs(program, path):
    """Whether it would change the text, or a part of it that is badly laid out on purpose."""
    done = subprocess.run([program, '--style=file', str(path)], capture_output=True)
    return done.returncode != 0 or done.stdout != path.read_bytes()


def main():
    root = Path(sys.argv[1])
    program = formatter()
    if not program:
        print('skipped: the layout of the files: clang-format 14 is not installed')
        print('0 passed, 0 failed, 1 skipped')
        return 0
    files = sorted(path for folder in FOLDERS for path in (root / folder).rglob('*') if path.suffix in SUFFIXES)
    wrong = [path.relative_to(root) for path in files if differs(program, path)]
    for path in wrong:
        print(f'FAILED {path}: clang-format -i {path}')
    # Finding no file at all would make every check pass.
    failed = len(wrong) if files else 1
    print(f'{len(files) - len(wrong)} passed, {failed} failed, 0 skipped')
    return 1 if failed else 0


raise SystemExit(main())
