/**
 * Reads Server-Sent Events from a stream of text.
 *
 * The browser's own `EventSource` hides the comments by which a silent server shows that it lives, cannot resume after its
 * address changed, and does not tell a refusal from a lost network. All three matter here.
 */

export interface Frame {
  event: string;
  data: string;
  id: string | undefined;
}

/** Longest frame that is kept; a longer one is not from our server. */
const LONGEST = 1 << 20;

/** Takes text in any pieces, gives whole frames. A comment gives nothing, but was heard. */
export class FrameReader {
  #rest = "";
  #event = "";
  #data: string[] = [];
  #id: string | undefined;

  push(text: string): Frame[] {
    const frames: Frame[] = [];
    // A carriage return at the very end may be half of a line's end.
    const all = this.#rest + text;
    const whole = all.endsWith("\r") ? all.slice(0, -1) : all;
    const lines = whole.split(/\r\n|\n|\r/);
    this.#rest = (lines.pop() ?? "") + all.slice(whole.length);
    if (this.#rest.length > LONGEST) throw new Error("a line of the event stream is too long");
    for (const line of lines) {
      const frame = this.#line(line);
      if (frame) frames.push(frame);
    }
    return frames;
  }

  #line(line: string): Frame | undefined {
    if (line === "") return this.#finish();
    const colon = line.indexOf(":");
    if (colon === 0) return undefined;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "");
    if (field === "event") this.#event = value;
    else if (field === "data") this.#data.push(value);
    else if (field === "id" && !value.includes("\0")) this.#id = value;
    return undefined;
  }

  #finish(): Frame | undefined {
    const frame =
      this.#data.length > 0
        ? { event: this.#event || "message", data: this.#data.join("\n"), id: this.#id }
        : undefined;
    this.#event = "";
    this.#data = [];
    this.#id = undefined;
    return frame;
  }
}
