"""`nacelle draw`: pictures as SVG and PNG files."""
import struct
import xml.etree.ElementTree as ElementTree

from bench import CPU, case, main, setting

SVG = '{http://www.w3.org/2000/svg}'


def elements(path):
    root = ElementTree.parse(path).getroot()
    assert root.tag == f'{SVG}svg', root.tag
    return [one.tag.removeprefix(SVG) for one in root]


@case
def a_picture_is_written_beside(bench):
    text = bench.good('draw', 'cartpole', *CPU)
    assert text == 'CartPole after 0 steps, environment 0: cartpole.svg\n', text
    assert {'rect', 'circle', 'line'} <= set(elements(bench.folder / 'cartpole.svg'))


@case
def steps_environment_seed_and_parameters_change_it_and_the_same_repeat_it(bench):
    def drawn(*arguments):
        bench.good('draw', 'cartpole', *CPU, '--out', 'one.svg', *arguments)
        return (bench.folder / 'one.svg').read_text().replace('after 9 steps', 'after 0 steps')

    plain = drawn()
    assert plain == drawn() == drawn('--set', 'env.count=3')
    others = [drawn('--steps', '9'), drawn('--env', '2'), drawn('--seed', '5'), drawn(*setting(env__params__half_length=1))]
    assert len({plain, *others}) == 5
    assert 'width="300"' in drawn('--size', '300')


@case
def a_name_that_ends_in_png_is_a_png_of_that_size(bench):
    bench.good('draw', 'cartpole', *CPU, '--out', 'one.png', '--size', '120')
    image = (bench.folder / 'one.png').read_bytes()
    assert image[:8] == b'\x89PNG\r\n\x1a\n' and max(struct.unpack('>II', image[16:24])) == 120, image[:24]


@case
def what_was_drawn_is_told_as_json(bench):
    [told] = bench.lines('draw', 'mazes', *CPU, '--steps', '3', '--out', 'm.svg')
    assert told['by_author'] and told['steps'] == 3 and told['out'] == 'm.svg' and told['dropped'] == 0, told
    assert told['view'] == [0, 15, 15, 0] and told['shapes'] == 15 * 15 + 2, told


@case
def an_environment_without_draw_is_shown_by_its_arrays(bench):
    text = bench.cartpole([('static void draw(', 'static void paint(')])
    path = bench.write('plain.cu', text)
    said = bench.good('draw', path, *CPU)
    assert 'it has no draw(): these are its arrays' in said, said
    assert 'state.theta_dot' in (bench.folder / 'plain.svg').read_text()


@case
def a_coordinate_that_is_not_finite_is_left_out_and_told(bench):
    text = bench.cartpole([('canvas.disc(s.x, 0.25f, 0.05f);', 'canvas.disc(s.x / (p.dt - p.dt), 0.25f, 0.05f);')])
    said = bench.good('draw', bench.write('lost.cu', text), *CPU)
    assert '1 shapes were left out: a coordinate is not finite' in said, said


@case
def what_cannot_be_drawn_is_refused(bench):
    bench.refused(r'--env: there is no environment 512 \(there are 0 to 511\)', 'draw', 'cartpole', '--env', '512', *CPU)
    bench.refused(r"cartpol: there is no such environment in .* \(did you mean 'cartpole'\?\)", 'draw', 'cartpol', *CPU)
    bench.refused(r"--out: x\.jpg is no kind of file that 'draw' writes \(a name that ends in \.svg or \.png\)", 'draw', 'cartpole', '--out', 'x.jpg')
    bench.refused(r'nowhere/x\.svg.*: .*', 'draw', 'cartpole', '--out', 'nowhere/x.svg', *CPU)
    endless = bench.cartpole([('const float end = p.x_limit', 'for (int i = 0; i < 300000; ++i) canvas.disc(0, 0, 1);\n'
                               '        const float end = p.x_limit')])
    bench.refused(r'CartPole: draw\(\) paints too much for one picture \(at most 200000 shapes, .*\)',
                  'draw', bench.write('endless.cu', endless), *CPU)
    flat = bench.cartpole([('canvas.view(-end, -0.5f, end, length + 0.7f);', 'canvas.view(1, 0, 1, 1);')])
    bench.refused(r'CartPole: draw\(\) shows an area of 0\.0+ by 1\.0+ \(view\(.*\)', 'draw', bench.write('flat.cu', flat), *CPU)


raise SystemExit(main())
