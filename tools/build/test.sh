# shellcheck shell=sh disable=SC2154,SC2034 # variables are shared with the files that source this one
# Sourced by tools/nacelle: builds and runs the tests. What failed is told where it failed and again at the end.

test_usage() {
    cat <<'END'
usage: tools/nacelle test [--all | --sanitized | --asan | --ubsan] [--werror] [NAME...]
       tools/nacelle test --bundle FILE

Builds and runs the tests, but for those that take long for what quicker ones look at, too. What
was left out is told as skipped, what took longest at the end, and in the last line the sum.

  --all        every test: those of the host's own code in a build with the address and the undefined-
               behaviour sanitizer, with inputs that nobody would write (tests/fuzz) for three seconds of
               each part that reads what others wrote; the others as users run them. Where there is a
               GPU, the host's run as users run them, too, since sanitizers leave a GPU out. Installs
               a browser, ffmpeg, clang, clang-format and CMake for the tests, where apt-get may
  --sanitized  with both sanitizers alone
  --asan       with the address sanitizer alone
  --ubsan      with the undefined-behaviour sanitizer alone
  --bundle     packs the tests that need a GPU into FILE, such as gpu-tests.tar.xz, with all that they need; a machine with
               an NVIDIA driver and g++ runs them without a build: tar xf FILE && nacelle-gpu-tests/test-gpu
  --werror     from now on a warning of the compiler stops the build
  NAME         only these parts, and all of them, for example: base jit layers. fuzz, which runs only by name, takes
               three seconds of each part; adapters and notebooks, which are skipped else, install
               PyTorch and the trainers of other libraries, 2.7 GB, for the Python package
END
}

run_tests() { python3 -I -B "$root/tools/build/run_tests.py" "$@"; }

# test_build LABEL FOLDER [meson options]: builds and runs the tests in $names, or of $half, or all, and adds to
# the sums. A build that fails is one failure.
test_build() {
    label=$1 folder=$2 counts=''
    shift 2
    targets=all built=yes
    if [ -n "$names$half" ]; then
        build "$folder" build.ninja "$@" || built=no
        # shellcheck disable=SC2086 # names are words
        [ $built = no ] || targets=$(run_tests $half --targets "$folder" $names) || exit 2
    fi
    [ $built = no ] || build "$folder" "$targets" "$@" || built=no
    if [ $built = yes ]; then
        rm -f "$folder/counts"
        # shellcheck disable=SC2086
        run_tests $briefly $half --label "$label" --counts "$folder/counts" --failures "$failures" --skips "$skips" --times "$times" "$folder" $names || :
        [ ! -f "$folder/counts" ] || read -r counts <"$folder/counts"
    fi
    # shellcheck disable=SC2086 # three numbers
    set -- ${counts:-0 1 0}
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
}

# Whether clang++ is here, with the runtime library of these sanitizers, and nobody asked for another compiler.
instruments_by_clang() {
    [ -z "${CXX:-}" ] || return 1
    printf 'int main() {}\n' | clang++ "-fsanitize=$1" -x c++ - -o /dev/null 2>/dev/null
}

# Enough debug information for a report to name lines. Clang compiles instrumented code in less than half of the time
# that g++ takes, which takes a third less at -Og than at -O1. Its libraries find the runtime in the program.
# Beside the address sanitizer, which stops at what a wrong pointer leads to, the other one need not ask about pointers:
# a fifth of g++'s time.
test_instrumented() {
    flags=-g1
    [ "$2" != address,undefined ] || flags="$flags -fno-sanitize=null,object-size,pointer-overflow,vptr"
    if instruments_by_clang "$2"; then
        set -- "$@" "--native-file=$root/tools/build/clang.ini" -Doptimization=0 -Db_lundef=false
    else
        set -- "$@" -Doptimization=g
    fi
    label=$1 sanitizers=$2
    shift 2
    test_build "$label" "$root/build-$label" "-Db_sanitize=$sanitizers" "-Dcpp_args=$flags" "$@"
}

# Debian packages of the programs that tests run. Only --all installs missing ones; without a program its tests are skipped,
# and the reason names the package.
missing_programs() {
    has_command chromium || has_command chromium-browser || has_command google-chrome || echo chromium
    has_command ffmpeg || echo ffmpeg
    has_command clang++ || echo clang
    has_command clang-format-14 || echo clang-format-14
    has_command cmake || echo cmake
}
install_programs() {
    . "$root/tools/build/setup.sh"
    programs=$(missing_programs | tr '\n' ' ')
    programs=${programs% }
    [ -n "$programs" ] || return 0
    if may_install && (apt_install "$programs"); then return; fi
    say "the tests that need these Debian packages are skipped: $programs"
}

test_command() {
    if [ "${1:-}" = --bundle ]; then
        shift
        . "$root/tools/build/bundle.sh"
        bundle_command "$@"
        return
    fi
    kinds=plain given=no names=''
    for argument; do
        case $argument in
            --all | --sanitized | --asan | --ubsan)
                [ "$given" = no ] || [ "$given" = "$argument" ] || {
                    echo "tools/nacelle test: $argument: there is $given already" >&2
                    exit 2
                }
                given=$argument kinds=${argument#--} ;;
            --werror) strict=yes ;;
            -h | --help) test_usage && return ;;
            -*) test_usage >&2 && exit 2 ;;
            *) names="$names $argument" ;;
        esac
    done
    [ "$given" != --all ] || kinds='plain sanitized'
    briefly='' half=''
    [ "$given$names" != no ] || briefly=--briefly
    [ "$given$names" != --all ] || install_programs
    case " $names " in
        '  ' | *' docs '* | *' docs_in_depth '* | *' reader '*)
            . "$root/tools/build/setup.sh"
            install_test_packages ;;
    esac
    case "$kinds $names " in
        'plain  ' | 'plain '*' torch '* | 'plain '*' ranks '* | 'plain '*' docs_in_depth '* | 'plain sanitized'*)
            (with_torch "$root/build") || say 'the tests of the learners on LibTorch are skipped' ;;
    esac
    passed=0 failed=0 skipped=0 failures=$(mktemp) skips=$(mktemp) times=$(mktemp)
    trap 'rm -f "$failures" "$skips" "$times"' EXIT
    for kind in $kinds; do
        case $kind in
            plain)
                case " $names " in
                    '  ' | *' python'* | *' adapters '* | *' notebooks '* | *' export '* | *' exported '*)
                        . "$root/tools/build/setup.sh"
                        package_python=$(test_python) ;;
                esac
                case " $names " in
                    *' adapters '*)
                        . "$root/tools/build/adapters.sh"
                        NACELLE_TEST_ADAPTERS=$(adapters_environment) || say 'the tests of the adapters are skipped'
                        export NACELLE_TEST_ADAPTERS ;;
                esac
                case " $names " in
                    *' notebooks '*)
                        . "$root/tools/build/adapters.sh"
                        NACELLE_TEST_NOTEBOOKS=$(adapters_environment) || say 'the tests of the notebooks are skipped'
                        export NACELLE_TEST_NOTEBOOKS ;;
                esac
                # Of all, each test runs in the build that shows most of it.
                [ "$given$names" != --all ] || [ -e /dev/nvidiactl ] || half=--half=plain
                test_build '' "$root/build"
                package_python='' ;;
            sanitized)
                [ "$given$names" != --all ] || half=--half=sanitized
                test_instrumented sanitized address,undefined ;;
            asan) test_instrumented asan address ;;
            ubsan) test_instrumented ubsan undefined ;;
        esac
    done
    if [ "$(wc -l <"$times")" -gt 3 ]; then
        printf '\nwhat took longest, programs and cases: seconds of processors, and of a clock\n'
        sort -rn "$times" | head -30
    fi
    [ ! -s "$failures" ] || printf '\nwhat failed:\n%s\n' "$(cat "$failures")"
    [ ! -s "$skips" ] || printf '\nwhy tests were skipped:\n%s\n' "$(sort "$skips" | uniq -c | sort -rn)"
    echo "$passed passed, $failed failed, $skipped skipped"
    [ $failed -eq 0 ]
}
