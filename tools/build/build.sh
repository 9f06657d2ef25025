# shellcheck shell=sh disable=SC2154,SC2034 # variables are shared with the files that source this one
# Sourced by tools/nacelle: brings one build folder up to date.

say() { printf 'nacelle: %s\n' "$*" >&2; }

# Programs in this folder run. Under a sudo that keeps HOME the folder may belong to another user.
data_folder=${XDG_DATA_HOME:-$HOME/.local/share}/nacelle

# others_write PATH [conditions of find]: prints the path if another user could write there. Root and members of the
# primary group are no other users.
others_write() {
    path=$1
    shift
    find -H "$path" -maxdepth 0 \( ! -user 0 ! -user "$(id -u)" -o \( -perm -0002 -o -perm -0020 ! -group "$(id -g)" \) "$@" \) 2>/dev/null || :    # it may not be there
}
require_own_data() {
    theirs=''
    for path in "$data_folder"/* "$data_folder"; do theirs=${theirs:-$(others_write "$path")}; done
    above=$(CDPATH='' cd -- "${data_folder%/*}" 2>/dev/null && pwd -P) || return 0
    # In a folder with the sticky bit other users cannot rename what is there.
    while [ -n "$above" ]; do
        theirs=${theirs:-$(others_write "$above" ! -perm -1000)}
        above=${above%/*}
    done
    [ -z "$theirs" ] || { say "$theirs can be written by another user, and programs in $data_folder would run: set XDG_DATA_HOME to a folder of your own" && exit 1; }
}

# lock_file FILE: makes a file for a lock, closed to other users: a user who can open a file can lock the file.
lock_file() { (umask 077 && : >>"$1" && chmod 600 -- "$1"); }

# lock_data FOLDER: holds the lock of a folder below the data folder, until `exec 8>&-`.
lock_data() {
    mkdir -p "$data_folder"
    require_own_data
    lock_file "$1.lock"
    exec 8>"$1.lock"
    ! command -v flock >/dev/null || flock 8
}

# privately COMMAND...: runs a command with a private folder for temporary files. Meson 1.0 runs a script from that folder, and
# Python looks for modules in the folder of a script: in /tmp other users' modules would run.
privately() {
    own=$(mktemp -d) result=0
    env TMPDIR="$own" "$@" || result=$?
    rm -rf "$own"
    return $result
}

# settings_text FILE: as much of it as settings can have, and nothing of what is no plain file.
settings_text() { [ ! -f "$1" ] || head -c 16777216 -- "$1"; }
# own_settings FILE: the file, if it belongs to this user or root; else /dev/null. A name takes no settings of others.
own_settings() {
    [ ! -f "$1" ] || case $(stat -c %u -- "$1") in 0 | "$(id -u)") printf '%s' "$1" && return ;; esac
    printf /dev/null
}

# Ninja's output becomes one line about progress; what compilers print is passed on.
show_build() {
    steps=0 noise='' quiet=no failed=no
    while IFS= read -r line; do
        case $line in
            '['[0-9]*' of '*'] '*)
                quiet=no
                case $line in *Regenerating*) quiet=yes ;; esac
                [ "$steps" -gt 0 ] || [ -t 2 ] || say 'building'
                steps=$((steps + 1)) progress=${line%%']'*}
                [ ! -t 2 ] || printf '\r\033[Kbuilding %s' "${progress#?}" >&2 ;;
            'build.sh: failed') failed=yes ;;
            'ninja: Entering directory'* | 'ninja: no work to do.') ;;
            *)
                # Configuring anew prints pages that matter only when it fails.
                if [ "$quiet" = yes ]; then
                    noise="$noise$line
"
                else
                    [ ! -t 2 ] || printf '\r\033[K' >&2
                    printf '%s\n' "$line" >&2
                fi ;;
        esac
    done
    [ "$steps" -eq 0 ] || [ ! -t 2 ] || printf '\r\033[K' >&2
    if [ "$failed" = yes ]; then
        printf '%s' "$noise" >&2
        say 'the build failed'
        return 1
    fi
    [ "$steps" -eq 0 ] || say "built in ${progress##* } s"
}

# build FOLDER "TARGETS" [meson options]: configures where needed, then builds. One build at a time uses a folder: the
# lock lies beside the folder and survives a clean configuration.
build() {
    folder=$1 targets=$2
    shift 2
    mkdir -p "$folder"
    lock_file "$folder.lock"
    exec 9>"$folder.lock"
    ! command -v flock >/dev/null || flock -n 9 || { say 'waiting for another build' && flock 9; }
    # A folder keeps the default options that it was configured with, and knows no options that came later.
    identity="$root ${CXX:-} $* $(sed -n '/^project(/,/)$/p' "$root/meson.build" | cat - "$root/meson_options.txt" | cksum)"
    known=''
    [ ! -f "$folder/configured" ] || IFS= read -r known <"$folder/configured" || :
    torch=no
    if [ -f "$folder/torch" ]; then
        torch=yes
        has_torch || { without_torch "$folder" && torch=no; }
    fi
    if [ ! -f "$folder/build.ninja" ] || [ "$known" != "$identity" ]; then
        . "$root/tools/build/setup.sh"
        configure "$folder" "$@"
        printf '%s\n' "$identity" >"$folder/configured"
        rm -f "$folder/package_python"
        [ $torch = no ] || : >"$folder/torch"
    fi
    # Kept from then on: to change it back and forth would build everything each time.
    if [ "${strict:-}" = yes ] && [ ! -f "$folder/strict" ]; then
        . "$root/tools/build/setup.sh"
        run_meson configure "$folder" -Dwerror=true
        : >"$folder/strict"
    fi
    # Kept as well, while it is there: for the test of the Python package alone.
    package_known=$(cat "$folder/package_python" 2>/dev/null || :)
    package_wanted=${package_python:-$package_known}
    [ -x "$package_wanted" ] || package_wanted=''
    if [ "$package_wanted" != "$package_known" ]; then
        . "$root/tools/build/setup.sh"
        run_meson configure "$folder" -Dpython="$package_wanted"
        echo "$package_wanted" >"$folder/package_python"
    fi
    status=0
    # shellcheck disable=SC2086 # several targets
    { privately env NINJA_STATUS='[%f of %t, %e] ' "$(command -v ninja || command -v ninja-build)" -C "$folder" -j "$(getconf _NPROCESSORS_ONLN)" $targets 2>&1 9<&- ||
        echo 'build.sh: failed'; } | show_build || status=1
    exec 9<&-
    return $status
}
