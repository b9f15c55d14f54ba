/** The colours of states can be told apart by everybody, on every surface. */
import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { STATES } from "@/api/types";

type Rgb = [number, number, number];

const css = readFileSync("src/design/tokens.css", "utf8");

function tokens(theme: string): (name: string) => string {
  const block = new RegExp(`data-theme="${theme}"\\] \\{([^}]*)\\}`).exec(css)?.[1] ?? "";
  return (name) => {
    const value = new RegExp(`--${name}: (#[0-9a-f]{6});`).exec(block)?.[1];
    if (!value) throw new Error(`there is no --${name} in the ${theme} theme`);
    return value;
  };
}

const parse = (hex: string): Rgb =>
  [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255) as Rgb;
const linear = (c: number) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
const toLinear = (rgb: Rgb) => rgb.map(linear) as Rgb;
const times = (m: readonly Rgb[], v: Rgb) => m.map((row) => row[0] * v[0] + row[1] * v[1] + row[2] * v[2]) as Rgb;

function contrast(a: string, b: string): number {
  const luminance = (hex: string) => times([[0.2126, 0.7152, 0.0722]], toLinear(parse(hex)))[0];
  const [light, dark] = [luminance(a), luminance(b)].sort((x, y) => y - x) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

/** Machado, Oliveira and Fernandes (2009), severity 1.0, on linear RGB. */
const VISIONS: Record<string, readonly Rgb[]> = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protan: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deutan: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritan: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

function lab(hex: string, vision: readonly Rgb[]): Rgb {
  const seen = times(vision, toLinear(parse(hex))).map((c) => Math.min(1, Math.max(0, c))) as Rgb;
  const xyz = times(
    [
      [0.4124564, 0.3575761, 0.1804375],
      [0.2126729, 0.7151522, 0.072175],
      [0.0193339, 0.119192, 0.9503041],
    ],
    seen,
  );
  const white: Rgb = [0.95047, 1, 1.08883];
  const [x, y, z] = xyz.map((c, i) => {
    const t = c / (white[i] ?? 1);
    return t > 216 / 24389 ? Math.cbrt(t) : ((24389 / 27) * t + 16) / 116;
  }) as Rgb;
  return [116 * y - 16, 500 * (x - y), 200 * (y - z)];
}

/** CIEDE2000 after Sharma, Wu and Dalal (2005). */
function ciede2000([l1, a1, b1]: Rgb, [l2, a2, b2]: Rgb): number {
  const rad = Math.PI / 180;
  const cMean = (Math.hypot(a1, b1) + Math.hypot(a2, b2)) / 2;
  const g = 0.5 * (1 - Math.sqrt(cMean ** 7 / (cMean ** 7 + 25 ** 7)));
  const [p1, p2] = [a1 * (1 + g), a2 * (1 + g)];
  const [c1, c2] = [Math.hypot(p1, b1), Math.hypot(p2, b2)];
  const hue = (a: number, b: number) => (a === 0 && b === 0 ? 0 : (Math.atan2(b, a) / rad + 360) % 360);
  const [h1, h2] = [hue(p1, b1), hue(p2, b2)];
  let dh = c1 * c2 === 0 ? 0 : h2 - h1;
  if (dh > 180) dh -= 360;
  if (dh < -180) dh += 360;
  const dH = 2 * Math.sqrt(c1 * c2) * Math.sin((dh / 2) * rad);
  const [lBar, cBar] = [(l1 + l2) / 2, (c1 + c2) / 2];
  let hBar = h1 + h2;
  if (c1 * c2 !== 0) {
    if (Math.abs(h1 - h2) <= 180) hBar /= 2;
    else hBar = hBar < 360 ? (hBar + 360) / 2 : (hBar - 360) / 2;
  }
  const t =
    1 -
    0.17 * Math.cos((hBar - 30) * rad) +
    0.24 * Math.cos(2 * hBar * rad) +
    0.32 * Math.cos((3 * hBar + 6) * rad) -
    0.2 * Math.cos((4 * hBar - 63) * rad);
  const sl = 1 + (0.015 * (lBar - 50) ** 2) / Math.sqrt(20 + (lBar - 50) ** 2);
  const sc = 1 + 0.045 * cBar;
  const sh = 1 + 0.015 * cBar * t;
  const rc = 2 * Math.sqrt(cBar ** 7 / (cBar ** 7 + 25 ** 7));
  const rt = -Math.sin(60 * Math.exp(-(((hBar - 275) / 25) ** 2)) * rad) * rc;
  const [x, y, z] = [(l2 - l1) / sl, (c2 - c1) / sc, dH / sh];
  return Math.sqrt(x * x + y * y + z * z + rt * y * z);
}

it("measures distance as the published examples do", () => {
  expect(ciede2000([50, 2.6772, -79.7751], [50, 0, -82.7485])).toBeCloseTo(2.0425, 4);
  expect(ciede2000([50, 2.5, 0], [73, 25, -18])).toBeCloseTo(27.1492, 4);
  expect(ciede2000([2.0776, 0.0795, -1.135], [0.9033, -0.0636, -0.5514])).toBeCloseTo(0.9082, 4);
});

describe.each(["dark", "light"])("the %s theme", (theme) => {
  const token = tokens(theme);
  const surfaces = ["canvas", "surface", "raised"];

  it.each(surfaces)("shows every state on %s at 3:1 or better", (surface) => {
    for (const state of STATES) {
      expect(contrast(token(state), token(surface)), `${state} on ${surface}`).toBeGreaterThanOrEqual(3);
    }
    expect(contrast(token("faint"), token(surface)), `faint on ${surface}`).toBeGreaterThanOrEqual(3);
  });

  it.each(surfaces)("can be read on %s: text and links at 4.5:1 or better", (surface) => {
    for (const text of ["text", "muted", "accent"]) {
      expect(contrast(token(text), token(surface)), `${text} on ${surface}`).toBeGreaterThanOrEqual(4.5);
    }
  });

  it("can be read on buttons", () => {
    expect(contrast(token("on-accent"), token("accent"))).toBeGreaterThanOrEqual(4.5);
    expect(contrast(token("on-dead"), token("dead"))).toBeGreaterThanOrEqual(4.5);
  });

  it.each(Object.keys(VISIONS))("keeps all 28 pairs of states apart for %s vision", (name) => {
    const vision = VISIONS[name] ?? [];
    const seen = STATES.map((state) => [state, lab(token(state), vision)] as const);
    let pairs = 0;
    for (const [i, [a, first]] of seen.entries()) {
      for (const [b, second] of seen.slice(i + 1)) {
        pairs += 1;
        expect(ciede2000(first, second), `${a} and ${b}`).toBeGreaterThanOrEqual(10);
      }
    }
    expect(pairs).toBe(28);
  });
});
