"""A curve as a picture: lines over axes, in plain SVG, without a library."""

import math

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 360, 80, 50, 40, 20
COLOURS = ("#1f6feb", "#d1242f", "#1a7f37", "#9a6700")


def short(number):
    for unit, name in ((1e9, "G"), (1e6, "M"), (1e3, "K")):
        if number >= unit:
            return f"{number / unit:g}{name}"
    return f"{number:g}"


def ticks_of(most):
    """Round numbers from 0 to beyond the largest value."""
    step = 10 ** math.floor(math.log10(most)) if most > 0 else 1
    while most / step > 5:
        step *= 2
    while most / step < 3:
        step /= 2
    return [step * i for i in range(math.ceil(most / step) + 1)]


def draw(path, title, x_name, y_name, lines):
    """lines: {name: [(x, y)...]}. The x axis is logarithmic, the y axis begins at 0."""
    xs = sorted({x for points in lines.values() for x, _ in points})
    ticks = ticks_of(max(y for points in lines.values() for _, y in points))
    low, high = math.log(xs[0]), math.log(xs[-1])

    def across(x):
        return LEFT + (math.log(x) - low) / ((high - low) or 1) * (WIDTH - LEFT - RIGHT)

    def up(y):
        return HEIGHT - BOTTOM - y / ticks[-1] * (HEIGHT - BOTTOM - TOP)

    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" '
           f'viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="12">',
           f'<rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>',
           f'<text x="{WIDTH / 2}" y="20" text-anchor="middle" font-size="14">{title}</text>',
           f'<text x="{WIDTH / 2}" y="{HEIGHT - 8}" text-anchor="middle">{x_name}</text>',
           f'<text x="16" y="{HEIGHT / 2}" text-anchor="middle" '
           f'transform="rotate(-90 16 {HEIGHT / 2})">{y_name}</text>']
    for y in ticks:
        out.append(f'<line x1="{LEFT}" y1="{up(y):.1f}" x2="{WIDTH - RIGHT}" y2="{up(y):.1f}" stroke="#ddd"/>')
        out.append(f'<text x="{LEFT - 8}" y="{up(y) + 4:.1f}" text-anchor="end">{short(y)}</text>')
    for x in xs:
        out.append(f'<text x="{across(x):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{short(x)}</text>')
    for number, (name, points) in enumerate(lines.items()):
        colour = COLOURS[number % len(COLOURS)]
        path_text = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in points)
        out.append(f'<polyline points="{path_text}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out += [f'<circle cx="{across(x):.1f}" cy="{up(y):.1f}" r="3" fill="{colour}"/>' for x, y in points]
        out.append(f'<text x="{LEFT + 10}" y="{TOP + 14 + 16 * number}" fill="{colour}">{name}</text>')
    out.append("</svg>\n")
    path.write_text("\n".join(out))
