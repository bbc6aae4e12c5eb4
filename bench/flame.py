"""Who called whom, and for how long? Draws sampled stacks as a flame graph, in SVG."""

import collections
import html
import zlib

WIDTH, ROW, TOP = 1200, 15, 30
# What takes less of all than this is not drawn: nobody could read it.
LEAST = 0.001
LETTER = 6.2


def graph(title, samples):
    """An SVG of samples, each a thread with its stack from the innermost function outwards. Widths are shares of all
    time, what was called stands above its caller, and what is pointed at tells its name and share."""
    root = Frame()
    for thread, stack in samples:
        root.add([thread, *reversed(stack)])
    boxes = [box for box in root.boxes(0.0, 0, 1.0 / max(1, root.count))]
    height = TOP + ROW * (2 + max((level for _, level, _, _ in boxes), default=0))
    drawn = "\n".join(shown(*box, height) for box in boxes)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="monospace" font-size="10">'
    return f'{head}\n<rect width="100%" height="100%" fill="white"/>\n<text x="8" y="18" font-size="14">{html.escape(title)}</text>\n{drawn}\n</svg>\n'


class Frame:
    """A function as it was called from one place."""

    def __init__(self):
        self.count = 0
        self.called = collections.defaultdict(Frame)

    def add(self, names):
        self.count += 1
        if names:
            self.called[names[0]].add(names[1:])

    def boxes(self, left, level, share):
        for name, frame in sorted(self.called.items()):
            width = frame.count * share
            if width >= LEAST:
                yield name, level, left, width
                yield from frame.boxes(left, level + 1, share)
            left += width


def shown(name, level, left, width, height):
    x, y, wide = WIDTH * left, height - ROW * (level + 1), WIDTH * width
    # The same function has the same colour wherever it stands.
    hue = zlib.crc32(name.split("::")[0].encode()) % 50
    text = short(name)[: max(0, int((wide - 4) / LETTER))]
    label = f'<text x="{x + 2:.1f}" y="{y + 11}">{html.escape(text)}</text>' if len(text) > 2 else ""
    tip = f"<title>{html.escape(name)}: {100 * width:.1f} %</title>"
    return f'<g>{tip}<rect x="{x:.1f}" y="{y}" width="{max(wide - 0.3, 0.3):.1f}" height="{ROW - 1}" fill="hsl({hue},80%,70%)"/>{label}</g>'


def short(name):
    return "::".join(name.split("::")[-2:])
