"""How does one figure grow with another? Draws curves as SVG, both axes by powers of ten."""

import html
import math

WIDTH, HEIGHT, LEFT, BOTTOM, TOP, RIGHT = 640, 360, 72, 48, 40, 150
LINE_HEIGHT = 14
COLOURS = ["#1f6feb", "#d1242f", "#1a7f37", "#9a6700"]


def curves(title, x_name, y_name, series):
    """An SVG of the series, each a name with its points."""
    points = [point for found in series.values() for point in found]
    x_axis, y_axis = Axis([x for x, _ in points], LEFT, WIDTH - RIGHT), Axis([y for _, y in points], HEIGHT - BOTTOM, TOP)
    parts = [f'<text x="{LEFT}" y="20" font-size="15">{html.escape(title)}</text>', *grid(x_axis, y_axis), *names(x_name, y_name)]
    lines = {name: [(x_axis.at(x), y_axis.at(y)) for x, y in sorted(found)] for name, found in series.items()}
    heights = apart({name: line[-1][1] for name, line in lines.items()})
    for (name, found), colour in zip(lines.items(), COLOURS):
        parts += line(name, found, heights[name], colour)
    style = 'font-family="sans-serif" font-size="12" fill="#222"'
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" {style}>\n<rect width="100%" height="100%" fill="white"/>\n' + "\n".join(parts) + "\n</svg>\n"


class Axis:
    """Where a value lies between two places, by powers of ten."""

    def __init__(self, values, begin, end):
        self.low, self.high = math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))
        self.high = max(self.high, self.low + 1)
        self.begin, self.end = begin, end

    def at(self, value):
        return self.begin + (self.end - self.begin) * (math.log10(value) - self.low) / (self.high - self.low)

    def marks(self):
        return [10.0**power for power in range(self.low, self.high + 1)]


def grid(x_axis, y_axis):
    for value in x_axis.marks():
        x = x_axis.at(value)
        yield f'<path d="M{x:.1f} {y_axis.begin}V{y_axis.end}" stroke="#ddd"/><text x="{x:.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle">{short(value)}</text>'
    for value in y_axis.marks():
        y = y_axis.at(value)
        yield f'<path d="M{x_axis.begin} {y:.1f}H{x_axis.end}" stroke="#ddd"/><text x="{LEFT - 8}" y="{y + 4:.1f}" text-anchor="end">{short(value)}</text>'


def names(x_name, y_name):
    yield f'<text x="{(LEFT + WIDTH - RIGHT) / 2}" y="{HEIGHT - 10}" text-anchor="middle">{html.escape(x_name)}</text>'
    yield f'<text x="16" y="{HEIGHT / 2}" text-anchor="middle" transform="rotate(-90 16 {HEIGHT / 2})">{html.escape(y_name)}</text>'


def apart(heights):
    """Heights for the names of lines, so far from each other that each can be read."""
    last, placed = -math.inf, {}
    for name, height in sorted(heights.items(), key=lambda item: item[1]):
        placed[name] = last = max(height, last + LINE_HEIGHT)
    return placed


def line(name, points, name_height, colour):
    path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
    yield f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>'
    yield from (f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in points)
    yield f'<text x="{points[-1][0] + 8:.1f}" y="{name_height + 4:.1f}" fill="{colour}">{html.escape(name)}</text>'


def short(value):
    for size, letter in ((1e9, "G"), (1e6, "M"), (1e3, "k")):
        if value >= size:
            return f"{value / size:g}{letter}"
    return f"{value:g}"
