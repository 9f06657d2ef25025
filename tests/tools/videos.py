"""`nacelle play --out x.mp4` and `.webm`: what ffmpeg is told and given, and what is left where it fails."""
import json
import os
import shutil
import signal
import stat
import subprocess
import sys
import time
from pathlib import Path

from bench import Skip, case
from recorded import listed, png, recording

# Keeps its arguments and counts what it reads; $FAKE says how it behaves otherwise.
FAKE = f'''#!{sys.executable}
import json, os, sys, time
way, out = os.environ['FAKE'], sys.argv[-1].removeprefix('file:')
if way == 'noisy':
    print('n' * 3000000, file=sys.stderr)
if way == 'refuses':
    print('first\\n\\x1b[31mno such encoder\\n', file=sys.stderr)
    sys.exit(3)
if way == 'leaves':
    sys.exit(0)
if way == 'crashes':
    os.kill(os.getpid(), 9)
if way == 'sleeps':
    open(out, 'w').write('half')
    open('sleeps.json', 'w').write(json.dumps({{'process': os.getpid(), 'folder': os.path.dirname(out)}}))
    time.sleep(600)
read = sys.stdin.buffer.read()
open(out, 'wb').write(read[:100])
open('seen.json', 'w').write(json.dumps({{'arguments': sys.argv[1:], 'bytes': len(read), 'row': read[-3:].hex()}}))
'''


def fake(bench, way='records'):
    """The settings under which a fake ffmpeg is found first."""
    folder = bench.folder / 'fake'
    if not folder.exists():
        (bench.write('fake/ffmpeg', FAKE)).chmod(0o755)
    return {'PATH': f'{folder}:{os.environ["PATH"]}', 'FAKE': way}


def seen(bench):
    told = json.loads((bench.folder / 'seen.json').read_text())
    words = told['arguments']
    told['size'] = tuple(map(int, words[words.index('-video_size') + 1].split('x')))
    told['rate'] = int(words[words.index('-framerate') + 1])
    return told


def half_files(bench):
    return [path.name for path in bench.folder.rglob('.nacelle-*')]


@case
def ffmpeg_is_given_every_picture_of_an_even_size(bench):
    name = recording(bench)
    _, episodes = listed(bench, name)
    bench.good('play', name, '--out', 'one.png', '--episode', '1', '--step', '0', '--size', '33')
    wide, high = png((bench.folder / 'one.png').read_bytes())
    assert wide % 2 or high % 2, (wide, high)
    for kind, encoder in (('mp4', 'libx264'), ('webm', 'libvpx-vp9')):
        told = bench.good('play', name, '--out', f'film.{kind}', '--episode', '1,2', '--size', '33', '--fps', '10', **fake(bench))
        steps = episodes[1]['steps'] + episodes[2]['steps']
        assert told == f'2 episodes, {steps} steps: film.{kind}\n', told
        video = seen(bench)
        assert video['size'] == (wide + wide % 2, high + high % 2) and video['rate'] == 10, video
        # An episode's last picture stays for a second.
        assert video['bytes'] == (steps + 2 * 9) * video['size'][0] * video['size'][1] * 3, video
        assert video['row'] == 'f6f5f1', video
        words = video['arguments']
        assert words[words.index('-c:v') + 1] == encoder and words[-3:-1] == ['-f', kind], words
        assert not words[-1].startswith(f'file:{bench.folder.resolve()}'), words     # in a folder that no other user can write
        assert (bench.folder / f'film.{kind}').stat().st_size == 100 and not half_files(bench)
    bench.good('play', name, '--export', 'mp4', '--size', '16', **fake(bench, 'noisy'))
    assert (bench.folder / 'step-0.mp4').exists() and seen(bench)['rate'] == 25


@case
def a_video_may_have_any_name(bench):
    name = recording(bench)
    for odd in ('-y.mp4', 'a b;$(touch broken)\'".mp4', 'http:x.mp4', '%d.mp4', 'line\nend.mp4', 'pipe:1.webm', 'é.webm'):
        bench.good('play', name, f'--out={odd}', '--size', '16', **fake(bench))
        assert (bench.folder / odd).stat().st_size == 100, odd
    assert not (bench.folder / 'broken').exists() and not half_files(bench)


@case
def a_failing_ffmpeg_is_quoted_and_leaves_what_was_there(bench):
    name = recording(bench)
    bench.write('kept.mp4', 'mine')
    for way, said in {'refuses': r'ffmpeg: \\x1b\[31mno such encoder', 'leaves': r'ffmpeg ended before it had all pictures',
                      'crashes': r'ffmpeg was ended by a signal: Killed'}.items():
        bench.refused(rf'kept\.mp4: {said}', 'play', name, '--out', 'kept.mp4', **fake(bench, way))
        assert (bench.folder / 'kept.mp4').read_text() == 'mine' and not half_files(bench), way
    bench.refused(r"nowhere/x\.mp4: cannot be written: there is no directory 'nowhere'",
                  'play', name, '--out', 'nowhere/x.mp4', **fake(bench))
    bench.refused(r"x\.mp4: a video needs the program ffmpeg, which is not on PATH \(install it, for example with 'apt install "
                  r"ffmpeg'; \.gif and \.png need none\)", 'play', name, '--out', 'x.mp4', PATH='/nowhere')


@case
def an_interrupt_leaves_neither_a_half_video_nor_ffmpeg(bench):
    name = recording(bench)
    started = bench.folder / 'sleeps.json'
    started.unlink(missing_ok=True)
    with subprocess.Popen([bench.program, 'play', name, '--out', 'never.mp4', '--size', '2000'], cwd=bench.folder,
                          env={**bench.settings, **fake(bench, 'sleeps')}, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)) as playing:
        end = time.monotonic() + 60
        while not started.exists() or not started.read_text():
            assert playing.poll() is None and time.monotonic() < end, 'ffmpeg was not started'
            time.sleep(0.01)
        told = json.loads(started.read_text())
        folder = Path(told['folder'])
        assert folder.is_dir() and stat.S_IMODE(folder.stat().st_mode) == 0o700, folder
        playing.send_signal(signal.SIGINT)
        assert playing.wait(10) == -signal.SIGINT
    end = time.monotonic() + 10
    while folder.exists() or os.path.exists(f'/proc/{told["process"]}'):
        assert time.monotonic() < end, list(folder.iterdir())
        time.sleep(0.01)
    assert not (bench.folder / 'never.mp4').exists() and not half_files(bench)


@case
def a_full_disk_leaves_the_old_video(bench):
    if not shutil.which('ffmpeg'):
        raise Skip('ffmpeg and ffprobe are not installed')
    name = recording(bench)
    (bench.folder / 'disk').mkdir()
    script = 'mount -t tmpfs -o size=$1 none disk && echo mine >disk/x.mp4 && ! TMPDIR=$2 $3 play $4 --out disk/x.mp4 --size 121 && cat disk/x.mp4'
    for size, elsewhere in (('8k', '/tmp'), ('16k', 'disk')):      # no room for the video, or for its pieces
        done = subprocess.run(['unshare', '-m', 'sh', '-c', script, 'sh', size, elsewhere, bench.program, name],
                              cwd=bench.folder, env=bench.settings, capture_output=True, text=True, timeout=300)
        if 'mount:' in done.stderr or 'unshare:' in done.stderr:
            raise Skip('this user may not mount a disk')
        assert done.returncode == 0 and done.stdout == 'mine\n' and 'disk/x.mp4: ' in done.stderr, done


@case
def ffmpeg_makes_videos_that_play(bench):
    if not shutil.which('ffmpeg') or not shutil.which('ffprobe'):
        raise Skip('ffmpeg and ffprobe are not installed')
    name = recording(bench)
    steps = listed(bench, name)[1][-1]['steps']
    for kind, codec in (('mp4', 'h264'), ('webm', 'vp9')):
        films = []
        for out in ('real', 'again'):
            bench.good('play', name, '--out', f'{out}.{kind}', '--size', '41', '--fps', '20')
            films.append((bench.folder / f'{out}.{kind}').read_bytes())
        assert films[0] == films[1]
        told = subprocess.run(['ffprobe', '-v', 'error', '-count_frames', '-show_streams', '-of', 'json', f'real.{kind}'],
                              cwd=bench.folder, capture_output=True, check=True)
        [stream] = json.loads(told.stdout)['streams']
        assert stream['codec_name'] == codec and stream['pix_fmt'] == 'yuv420p' and stream['avg_frame_rate'] == '20/1', stream
        assert int(stream['nb_read_frames']) == steps + 19, stream
