"""`nacelle play` and recordings that somebody else has made."""
import json
import re
import struct
import zlib

from bench import CPU, case, main
from recorded import recording

# Its draw() takes an index for an array of plain C++ from the state.
PLAIN_INDEX = [('struct Obs { float x, x_dot, theta, theta_dot; };',
                'struct Obs { float x, x_dot, theta, theta_dot; };\n    static constexpr float shade[3] = {1, 2, 3};'),
               ('canvas.disc(s.x, 0.25f, 0.05f);', 'canvas.disc(s.x, 0.25f, shade[int(s.theta)]);')]


def forged(data, change):
    """A recording as somebody would write it who knows its checksums: change(kind, text, data) gives text and data anew."""
    at, out = 16, data[:16]
    while at < len(data):
        kind, _, packed, _, _, about = struct.unpack('<4sIQQII', data[at:at + 32])
        text = data[at + 32:at + 32 + about]
        body = zlib.decompress(data[at + 32 + about:at + 32 + about + packed])
        at += 32 + about + packed
        text, body = change(kind.decode(), json.loads(text), body)
        text, body, size = json.dumps(text).encode(), zlib.compress(body), len(body)
        fields = [kind, 0, len(body), size, zlib.crc32(text + body), len(text)]
        fields[1] = zlib.crc32(struct.pack('<4sIQQII', *fields))
        out += struct.pack('<4sIQQII', *fields) + text + body
    return out


def with_header(data, **values):
    return forged(data, lambda kind, text, body: ({**text, **values} if kind == 'head' else text, body))


@case
def a_strangers_recording_runs_nothing_of_its_own(bench):
    whole = (bench.folder / recording(bench)).read_bytes()
    marker = bench.folder / 'ran'
    code = f'x"}};\n#include <cstdlib>\nstatic int ran = system("touch {marker}");\n//'
    hidden = bench.cartpole([('NACELLE_ENV(', f'#include <cstdlib>\nstatic int ran = system("touch {marker}");\nNACELLE_ENV(')])
    path = bench.write('hidden/cartpole.cu', hidden)
    hashes = {'cartpole.cu': '0' * 32}
    for number, (pattern, values) in enumerate((
            (r'varied', {'varied': [code.replace('\n', ' ')]}),
            (r'constants', {'constants': {code.replace('\n', ' '): 1}}),
            (r'source: .* is no plain name of a \.cu file', {'source': str(path), 'files': {}}),
            (r'source: .* is no plain name of a \.cu file', {'source': '../hidden/cartpole.cu', 'files': {}}),
            (r'files: they lack cartpole\.cu itself', {'files': {}}),
            (r'files: .* is no relative name', {'files': {**hashes, str(path): '0' * 32}}))):
        bench.write(f'evil-{number}/evil.recording', with_header(whole, **values))
        for words in (['--out', 'evil.png', '--step', '0'], ['--out', 'evil.gif'], ['--web'], []):
            bench.refused(rf'.*evil\.recording: has a header that this engine does not understand: {pattern}.*',
                          'play', f'evil-{number}/evil.recording', *words)
    # Code becomes none of what is text: the header is not understood at all.
    bench.write('evil.recording', with_header(whole, varied=[code]))
    bench.refused(r'evil\.recording: has a header that this engine does not understand \(.*\)', 'play', 'evil.recording', '--out', 'e.png', '--step', '0')
    assert not marker.exists()


@case
def a_file_beside_a_recording_is_used_where_nobody_else_can_have_written_it(bench):
    other = bench.cartpole([('canvas.disc(s.x, 0.25f, 0.05f);', 'canvas.disc(s.x, 0.25f, 0.06f);')])
    path = bench.write('beside/other.cu', other)
    bench.good('watch', path, *CPU, '--steps', '3', '--pace', '0', '--record', '1', '--record-to', 'beside/o.recording')
    bench.good('play', 'beside/o.recording', '--out', 'o.png', '--step', '0')
    path.chmod(0o666)
    result = bench.run('play', 'beside/o.recording', '--out', 'o.png', '--step', '0')
    assert result.status == 0 and result.err == (f'other.cu: {path} can be written by other users, so that its draw() is not used '
                                                 '(--source FILE names it); its arrays are shown\n'), result
    path.chmod(0o644)
    among = bench.write('env_sources/other.cu', other)
    among.chmod(0o666)
    path.unlink()
    result = bench.run('play', 'beside/o.recording', '--out', 'o.png', '--step', '0')
    assert result.status == 0 and f'other.cu: {among} can be written by other users, so that its draw() is not used' in result.err, result
    among.unlink()
    # What it includes belongs to it: a file more is another one.
    bench.write('beside/more.h', '')
    path.write_text('#include "more.h"\n' + other)
    result = bench.run('play', 'beside/o.recording', '--out', 'o.png', '--step', '0')
    assert result.status == 0 and 'is another one than was recorded' in result.err, result


@case
def forged_numbers_cost_the_picture_and_say_so(bench):
    bench.good('watch', 'mazes', *CPU, '--steps', '3', '--pace', '0', '--record', '1', '--record-to', 'm.recording')
    def far(kind, text, body):
        # `state.level` comes first, its highest bytes behind all others of it.
        return text, body[:9] + b'\x7f\x7f\x7f' + body[12:] if kind == 'epis' else body
    bench.write('far.recording', forged((bench.folder / 'm.recording').read_bytes(), far))
    for words in (['--out', 'far.png', '--step', '1'], ['--out', 'far.gif']):
        bench.refused(r'Mazes: draw\(\) was ended: index 21\d+ is outside a Table of size \d+ \(it was not written for .*\)',
                      'play', 'far.recording', *words)
    head = json.loads(bench.good('play', 'm.recording', '--json').splitlines()[0])
    arrays = [{**one, 'type': 'f32'} if one['name'] == 'state.x' else one for one in head['arrays']]
    bench.write('form.recording', with_header((bench.folder / 'm.recording').read_bytes(), arrays=arrays))
    result = bench.run('play', 'form.recording', '--out', 'form.png', '--step', '1')
    assert result.status == 0 and re.fullmatch(r'form\.recording: state\.x is recorded as .* f32, .* and not as .* i32, .*; '
                                               r'its arrays are shown\n', result.err), result


@case
def a_signal_inside_draw_is_a_sentence(bench):
    path = bench.write('plain/plain.cu', bench.cartpole(PLAIN_INDEX))
    bench.good('watch', path, *CPU, '--steps', '3', '--pace', '0', '--record', '1', '--record-to', 'plain/p.recording')
    data = (bench.folder / 'plain/p.recording').read_bytes()
    names = [one['name'] for one in bench.lines('play', 'plain/p.recording')[0]['arrays']]
    at = 12 * names.index('state.theta')
    def far(kind, text, body):
        return text, body[:at + 6] + struct.pack('3B', *[0] * 3) + b'\x46' * 3 + body[at + 12:] if kind == 'epis' else body
    bench.good('play', 'plain/p.recording', '--out', 'p.png', '--step', '1')
    bench.write('plain/far.recording', forged(data, far))
    bench.refused(r'plain/far\.recording: draw\(\) read outside its arrays, .*', 'play', 'plain/far.recording', '--out', 'p.png', '--step', '1')


raise SystemExit(main())
