"""Cases of a test of the Python package: a line for each, and their sum."""
import atexit
import sys
import traceback

_cases, _sum = [], []


@atexit.register
def _tell_sum():
    """Behind all that libraries print at the end, since these are loaded later."""
    if _sum:
        print(_sum[0], flush=True)


def case(function):
    _cases.append(function)
    return function


def refused(kind, call, words):
    try:
        call()
    except kind as error:
        assert words in str(error), error
    else:
        raise AssertionError(f"nothing was refused; expected {words!r}")


def run_cases(only=()):
    """Runs all cases, or the named cases, in order and ends the process; status 1 means a failed case."""
    failed, wanted = 0, [test for test in _cases if not only or test.__name__ in only]
    for test in wanted:
        try:
            test()
            print("ok", test.__name__, flush=True)
        except Exception:
            failed += 1
            print("FAILED", test.__name__)
            traceback.print_exc(file=sys.stdout)
    _sum.append(f"{len(wanted) - failed} passed, {failed} failed, 0 skipped")
    raise SystemExit(1 if failed else 0)
