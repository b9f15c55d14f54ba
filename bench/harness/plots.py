"""Plots as plain SVG, readable on a dark page and on a light one: the colours follow the reader's scheme."""

import math
from xml.sax.saxutils import escape

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 720, 78, 150, 44, 46
STYLE = """
text { font: 12px system-ui, sans-serif; fill: #24292f }
.title { font-size: 14px; font-weight: 600 }
.grid { stroke: #8884; stroke-width: 1 }
.axis { stroke: #888; stroke-width: 1 }
.s0 { stroke: #0969da; fill: #0969da } .s1 { stroke: #bc4c00; fill: #bc4c00 } .s2 { stroke: #1a7f37; fill: #1a7f37 }
.s3 { stroke: #8250df; fill: #8250df } .s4 { stroke: #cf222e; fill: #cf222e } .s5 { stroke: #6e7781; fill: #6e7781 }
.line { fill: none; stroke-width: 2 } .bar { stroke: none } .label { stroke: none }
@media (prefers-color-scheme: dark) {
  text { fill: #d0d7de }
  .s0 { stroke: #58a6ff; fill: #58a6ff } .s1 { stroke: #f0883e; fill: #f0883e } .s2 { stroke: #3fb950; fill: #3fb950 }
  .s3 { stroke: #bc8cff; fill: #bc8cff } .s4 { stroke: #ff7b72; fill: #ff7b72 } .s5 { stroke: #8b949e; fill: #8b949e }
  .line { fill: none } .label, .bar { stroke: none }
}
"""


def lines(title, across, up, series, log_across=False, log_up=False):
    """Series of points by name. The axes begin at zero unless they are logarithmic."""
    height = 340
    points = [point for some in series.values() for point in some]
    right, top = WIDTH - RIGHT, TOP
    to_x = _scale([x for x, _ in points], LEFT, right, log_across)
    to_y = _scale([y for _, y in points], height - BOTTOM, top, log_up)
    parts = [_text(LEFT, 22, title, "title"), _text((LEFT + right) / 2, height - 10, across, anchor="middle"), _text(LEFT, 38, up)]
    for value in _ticks([y for _, y in points], log_up):
        parts.append(f'<line class="grid" x1="{LEFT}" x2="{right}" y1="{to_y(value):.1f}" y2="{to_y(value):.1f}"/>')
        parts.append(_text(LEFT - 8, to_y(value) + 4, _short(value), anchor="end"))
    for value in sorted({x for x, _ in points}):
        parts.append(_text(to_x(value), height - BOTTOM + 18, _short(value), anchor="middle"))
    parts.append(f'<line class="axis" x1="{LEFT}" x2="{right}" y1="{height - BOTTOM}" y2="{height - BOTTOM}"/>')
    for nth, (name, some) in enumerate(series.items()):
        path = " ".join(f"{to_x(x):.1f},{to_y(y):.1f}" for x, y in sorted(some))
        parts.append(f'<polyline class="line s{nth % 6}" points="{path}"/>')
        parts += [f'<circle class="s{nth % 6}" cx="{to_x(x):.1f}" cy="{to_y(y):.1f}" r="3"/>' for x, y in some]
        parts.append(f'<circle class="s{nth % 6}" cx="{right + 14}" cy="{TOP + 8 + 20 * nth}" r="4"/>')
        parts.append(_text(right + 24, TOP + 12 + 20 * nth, name))
    return _svg(title, height, parts)


def bars(title, unit, items):
    """One bar per item: name, median, least, most, and which colour it has."""
    height = TOP + 24 * len(items) + 20
    left, right = 250, WIDTH - 90
    widest = max(most for _, _, _, most, _ in items)
    parts = [_text(16, 22, title, "title")]
    for nth, (name, median, least, most, colour) in enumerate(items):
        y = TOP + 24 * nth
        reach = [left + (right - left) * value / widest for value in (median, least, most)]
        parts.append(_text(left - 8, y + 13, name, anchor="end"))
        parts.append(f'<rect class="bar s{colour}" x="{left}" y="{y}" width="{max(1.0, reach[0] - left):.1f}" height="16" rx="2"/>')
        parts.append(f'<line class="axis" x1="{reach[1]:.1f}" x2="{reach[2]:.1f}" y1="{y + 8}" y2="{y + 8}"/>')
        parts.append(_text(max(reach) + 6, y + 13, _short(median)))
    parts.append(_text(left, height - 6, unit))
    return _svg(title, height, parts)


def _svg(title, height, parts):
    inside = "\n".join(parts)
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" width="{WIDTH}" height="{height}" role="img">'
    return f"{head}\n<title>{escape(title)}</title>\n<style>{STYLE}</style>\n{inside}\n</svg>\n"


def _text(x, y, text, kind="label", anchor="start"):
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}">{escape(str(text))}</text>'


def _scale(values, start, end, logarithmic):
    if not logarithmic:
        most = max(values) or 1.0
        return lambda value: start + (end - start) * value / most
    low, high = math.log10(min(values)), math.log10(max(values))
    span = (high - low) or 1.0
    return lambda value: start + (end - start) * (math.log10(value) - low) / span


def _ticks(values, logarithmic):
    most = max(values) or 1.0
    if logarithmic:
        first, last = math.floor(math.log10(min(values))), math.ceil(math.log10(most))
        return [10.0**power for power in range(first, last + 1) if min(values) <= 10.0**power <= most]
    step = 10 ** math.floor(math.log10(most))
    step = step / 2 if most / step < 3 else step
    return [step * nth for nth in range(int(most / step) + 1)]


def _short(value):
    for size, letter in ((1_000_000, "M"), (1_000, "k")):
        if abs(value) >= size:
            return f"{value / size:.3g} {letter}"
    return f"{value:.3g}"
